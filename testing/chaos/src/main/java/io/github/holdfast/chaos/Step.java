package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.Set;

/**
 * One locked call of a program.
 *
 * @param kind what it does
 * @param key the key of its lock, which is also the account that it changes
 * @param think how many milliseconds it works between reading and writing
 */
record Step(Kind kind, String key, int think) {

	/**
	 * Whether its interrupt comes when it has nothing more to wait for but its commit.
	 * The others come while it waits for its lock or works.
	 */
	boolean isInterruptedLate() {
		return this.kind == Kind.INTERRUPT && this.think % 2 != 0;
	}

	/**
	 * Whether another manager begins its transaction when this one has written.
	 */
	boolean borrowsLate() {
		return this.think % 2 != 0;
	}

	/**
	 * Whether its method has been seen to be one transaction, which then claims the lock.
	 */
	boolean claims() {
		return this.think % 3 != 0;
	}

	@Override
	public String toString() {
		return "%s %s %d".formatted(Names.print(this.kind), this.key, this.think);
	}

	static Step parse(String text) {
		String[] words = text.split(" ");
		return new Step(Names.parse(Kind.class, words[0]), words[1], Integer.parseInt(words[2]));
	}

	/**
	 * What a call does under its lock.
	 */
	enum Kind {

		/** An annotated method that is one transaction. */
		DECLARATIVE,

		/** A body of a template with one transaction in it. */
		TEMPLATE,

		/** A scope with one transaction in it. */
		SCOPE,

		/** An annotated method with {@code REQUIRES_NEW} inside a running transaction. */
		REQUIRES_NEW,

		/** A body that calls an annotated method with the same key. */
		REENTRANT,

		/** A body that calls another one with another key. */
		NESTED,

		/** An annotated method with several keys. */
		SEVERAL_KEYS,

		/** An annotated method with a listener that writes after its commit. */
		LISTENER,

		/** An annotated method with a transaction of its own inside. */
		INNER,

		/** An annotated method with a savepoint that it goes back to. */
		SAVEPOINT,

		/** A body with two transactions. */
		TWO_COMMITS,

		/** An annotated method that throws an exception of its own after its writes. */
		EXCEPTION,

		/** An annotated method whose thread is interrupted. */
		INTERRUPT,

		/** An annotated method that only reads. */
		READ_ONLY,

		/** A body that only reads, at the same time as others that do. */
		SHARED,

		/** A body that runs again if another one has committed. */
		OPTIMISTIC,

		/** A body whose lock is given in the order of arrival. */
		FAIR,

		/** An annotated method whose writes MyBatis sends together, before the commit. */
		BATCH,

		/** An annotated method whose lock stays behind for a while. */
		MINIMUM_HOLD,

		/**
		 * An annotated method with a listener that calls a locked body after its commit.
		 */
		LOCKED_LISTENER,

		/**
		 * An annotated method with a listener that writes, however the method has ended.
		 */
		COMPLETION,

		/** An annotated method that reads and writes entities. */
		ENTITY,

		/** The same in the persistence context of a request, which has read before. */
		ENTITY_IN_VIEW,

		/** A body with transactions of two managers. */
		TWO_MANAGERS,

		/** A transaction of one manager that calls a method of another one: refused. */
		OTHER_MANAGER,

		/**
		 * A body with a transaction of JPA, in which one of JDBC only reads on its
		 * connection.
		 */
		BORROWED_LOOK,

		/** The same with one that writes. */
		BORROWED_SALE,

		/** The same with one that fails, after which the outer one goes on. */
		BORROWED_REFUSAL,

		/** A method that is inherited, with the annotation on its interface. */
		INHERITED,

		/** A scope that is closed before its transaction ends: refused. */
		CLOSED_SCOPE,

		/** A scope in another one that is closed first: refused. */
		CROSSED_SCOPES,

		/** An annotated method that is declared read-only and writes. */
		READ_ONLY_SALE,

		/** A body that writes without a transaction after one that has committed. */
		AUDITED,

		/**
		 * An annotated method that chooses a tenant, with a transaction in that one's
		 * pool.
		 */
		TENANT,

		/**
		 * An annotated method that is called by a step of Spring Batch without tables.
		 */
		BATCH_STEP,

		/**
		 * A transaction with a callback that writes without any, the first of a method.
		 */
		LATE_SALE;

		private static final Set<Kind> WITHOUT_TRANSACTION = EnumSet.of(LOCKED_LISTENER, AUDITED, LATE_SALE);

		private static final Set<Kind> BORROWING = EnumSet.of(BORROWED_LOOK, BORROWED_SALE, BORROWED_REFUSAL);

		/**
		 * How many locks it waits for at most, one after the other.
		 */
		int locks() {
			return switch (this) {
				case SEVERAL_KEYS -> PlanSource.KEYS.size();
				case NESTED, LOCKED_LISTENER -> 2;
				default -> 1;
			};
		}

		/**
		 * Whether it does something else before it waits for its lock.
		 */
		boolean isAfterOthers() {
			return this == REQUIRES_NEW || this == OTHER_MANAGER || this == ENTITY_IN_VIEW || BORROWING.contains(this);
		}

		/**
		 * Whether it gives its lock back before its transaction has ended.
		 */
		boolean givesBackEarly() {
			return this == CLOSED_SCOPE || this == CROSSED_SCOPES;
		}

		/**
		 * Whether it writes without a transaction, which needs connections that commit
		 * each statement.
		 */
		boolean needsAutoCommit() {
			return WITHOUT_TRANSACTION.contains(this);
		}

	}

}
