package io.github.holdfast.chaos;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * What a run is about.
 *
 * @param backend where the locks are
 * @param database where the business data are
 * @param isolation the isolation of the business transactions
 * @param level what protects them
 */
record Target(Backend backend, TestDatabase database, Isolation isolation, Level level) {

	/**
	 * The same with another protection.
	 */
	Target at(Level other) {
		return new Target(this.backend, this.database, this.isolation, other);
	}

	/**
	 * Whether a program may do that there.
	 */
	boolean offers(Step.Kind kind) {
		return this.backend.offers(kind) && (kind != Step.Kind.OPTIMISTIC || this.level.hasVersions());
	}

	@Override
	public String toString() {
		return "%s %s %s %s".formatted(this.backend, this.database.platform(), this.isolation, this.level);
	}

	static Target parse(String text) {
		String[] words = text.split(" ");
		return new Target(Names.parse(Backend.class, words[0]), Names.parse(TestDatabase.class, words[1]),
				Names.parse(Isolation.class, words[2]), Names.parse(Level.class, words[3]));
	}

}
