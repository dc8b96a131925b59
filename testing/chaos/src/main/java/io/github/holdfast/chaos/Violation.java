package io.github.holdfast.chaos;

import java.util.Locale;

/**
 * A promise that was broken.
 *
 * @param kind which one
 * @param detail what shows it
 */
record Violation(Kind kind, String detail) {

	/**
	 * The kind as people read it.
	 */
	String kindName() {
		return this.kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
	}

	@Override
	public String toString() {
		return kindName() + ": " + this.detail;
	}

	/**
	 * Promises.
	 */
	enum Kind {

		/**
		 * Two transactions have read the same version, and both have written the next.
		 */
		LOST_UPDATE,

		/** A token is smaller than that of an earlier version. */
		TOKEN_OUT_OF_ORDER,

		/** A transaction with a smaller token has committed after a later holder read. */
		COMMIT_AFTER_SUCCESSOR,

		/** Holders of one JVM that came one after the other have no rising tokens. */
		TOKEN_NOT_RISING,

		/** A commit was acknowledged, and is not there. */
		COMMIT_LOST,

		/** A call was told that it was rolled back, and it was not. */
		ROLLBACK_COMMITTED,

		/** A version was written without the sale that belongs to it. */
		HALF_COMMITTED,

		/** A call ended in a way that is none of those documented. */
		UNEXPECTED_END,

		/**
		 * The body of a call that was not given its lock has run, or something has
		 * committed that saw no lock.
		 */
		RAN_WITHOUT_LOCK,

		/** A call left something behind on its thread or in its pool. */
		LEAK,

		/** Two bodies ran under one lock at the same time, though nothing went wrong. */
		OVERLAP,

		/** A call was told of a success, though it has gone on after a later holder. */
		LOSS_NOT_TOLD,

		/**
		 * A call lost its lock or failed, though nothing went wrong, or before its lease
		 * could be over.
		 */
		FALSE_LOSS,

		/** A lock could not be had after the faults. */
		STUCK,

		/** A lock could be had after the faults, but later than its lease says. */
		LATE,

		/** A call that did not get its lock took longer than it may. */
		OVERDUE

	}

}
