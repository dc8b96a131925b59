package io.github.holdfast.chaos;

/**
 * One locked call of a program.
 *
 * @param kind what it does
 * @param key the key of its lock, which is also the account that it changes
 * @param think how many milliseconds it works between reading and writing
 */
record Step(Kind kind, String key, int think) {

	/**
	 * Every second step of a kind is a variant: the body of a template with a transaction
	 * in it where the others are annotated methods, a read without a transaction, or a
	 * late interrupt.
	 */
	boolean isVariant() {
		return this.think % 2 != 0;
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

		/** The same at READ COMMITTED, whatever the pool says. */
		COMMITTED,

		/** The same at REPEATABLE READ. */
		REPEATABLE,

		/** The same at SERIALIZABLE. */
		SERIALIZABLE,

		/** A body of a template with one transaction in it. */
		TEMPLATE,

		/** A body with two transactions. */
		TWO_COMMITS,

		/** A body that reads before the transaction that writes. */
		FACADE,

		/** An annotated method with {@code REQUIRES_NEW} inside a running transaction. */
		REQUIRES_NEW,

		/** A transaction with one by {@code REQUIRES_NEW} inside. */
		INNER,

		/** A transaction that goes on after the database has ended a deadlock by it. */
		DEADLOCK,

		/** An annotated method with a savepoint that it goes back to. */
		SAVEPOINT,

		/** A body that calls an annotated method with the same key. */
		REENTRANT,

		/** A body that calls another one with another key. */
		NESTED,

		/** An annotated method with several keys. */
		SEVERAL_KEYS,

		/** A body that runs again if another one has committed. */
		OPTIMISTIC,

		/** An annotated method that throws an exception after its writes. */
		EXCEPTION,

		/** An annotated method whose thread is interrupted. */
		INTERRUPT,

		/** An annotated method that only reads. */
		READ_ONLY,

		/** An annotated method that reads and writes entities. */
		ENTITY,

		/** The same in the persistence context of a request, which has read before. */
		ENTITY_IN_VIEW,

		/** An annotated method whose transaction is read by a listener at its begin. */
		LISTENER;

		/**
		 * How many locks it waits for at most, one after the other.
		 */
		int locks() {
			return switch (this) {
				case SEVERAL_KEYS -> PlanSource.KEYS.size();
				case NESTED -> 2;
				default -> 1;
			};
		}

		boolean needsEntities() {
			return this == ENTITY || this == ENTITY_IN_VIEW;
		}

		/**
		 * Whether it does something else before it waits for its lock.
		 */
		boolean isAfterOthers() {
			return this == REQUIRES_NEW || this == ENTITY_IN_VIEW;
		}

		/**
		 * Whether the database may end it by itself, although nothing else goes wrong.
		 */
		boolean isRefusedByDatabases() {
			return this == DEADLOCK || this == SERIALIZABLE || this == REPEATABLE;
		}

	}

}
