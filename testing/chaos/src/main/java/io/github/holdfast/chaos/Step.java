package io.github.holdfast.chaos;

/** One locked call of a program. The key is also the account that it changes. */
record Step(Kind kind, String key, int think) {

	/**
	 * Every second step of a kind is a variant: the body of a template with a transaction
	 * in it where the others are annotated methods, a read without a transaction, a first
	 * transaction whose failure the body survives, or a late interrupt.
	 */
	boolean isVariant() {
		return this.think % 2 != 0;
	}

	/**
	 * The same with another time for its work: a multiple, and not longer than at most.
	 */
	Step within(int longest, int multiple) {
		return new Step(this.kind, this.key, this.think * 31 % (longest / multiple + 1) * multiple);
	}

	/** What a call does under its lock. {@link Holder} and {@link Shop} say how. */
	enum Kind {

		DECLARATIVE, COMMITTED, REPEATABLE, SERIALIZABLE, TEMPLATE, TWO_COMMITS, FACADE, REQUIRES_NEW, INNER, DEADLOCK,
		SAVEPOINT, REENTRANT, NESTED, SEVERAL_KEYS, OPTIMISTIC, EXCEPTION, INTERRUPT, READ_ONLY, ENTITY, ENTITY_IN_VIEW,
		LISTENER;

		/** How many locks it waits for at most, one after the other. */
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

		/** Whether it does something else before it waits for its lock. */
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
