package io.github.holdfast.chaos;

/**
 * A promise that was broken.
 *
 * @param kind which one
 * @param detail what shows it
 */
record Violation(Kind kind, String detail) {

	@Override
	public String toString() {
		return Names.print(this.kind) + ": " + this.detail;
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

		/** A commit was acknowledged, and is not there. */
		COMMIT_LOST,

		/** A call was told that it was rolled back, and it was not. */
		ROLLBACK_COMMITTED,

		/** A version was written without the sale that belongs to it. */
		HALF_COMMITTED,

		/** A call ended in a way that is none of those documented. */
		UNEXPECTED_END,

		/** A call that was not given its lock has run or committed. */
		RAN_WITHOUT_LOCK,

		/** A call left something behind on its thread, in its pool or in the store. */
		LEAK,

		/** Two bodies ran under one lock at the same time, without any fault. */
		OVERLAP,

		/** A call lost its lock or failed without any fault, or within its lease. */
		FALSE_LOSS,

		/** A lock could not be had after the faults. */
		STUCK,

		/** A lock could be had after the faults, but later than its lease allows. */
		LATE,

		/** A call that did not get its lock took longer than it may. */
		OVERDUE

	}

}
