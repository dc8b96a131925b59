package io.github.holdfast.chaos;

/**
 * What a run is about.
 *
 * @param backend where the locks are
 * @param database where the business data are
 * @param isolation the isolation of the business transactions
 * @param level what protects them
 */
record Target(Backend backend, Database database, Isolation isolation, Level level) {

	Target at(Level other) {
		return new Target(this.backend, this.database, this.isolation, other);
	}

	/**
	 * Whether a program may do that there.
	 */
	boolean offers(Step.Kind kind) {
		return kind != Step.Kind.OPTIMISTIC || this.level == Level.FENCE && this.backend != Backend.REDIS;
	}

	/**
	 * Whether a fault can happen there.
	 */
	boolean suffers(Fault.Kind kind, Fault.Place place) {
		return kind.happensAt(place) && this.backend.suffers(kind, place) && this.database.suffers(kind);
	}

	@Override
	public String toString() {
		return "%s %s %s %s".formatted(this.backend, this.database, this.isolation, this.level);
	}

	static Target parse(String text) {
		String[] words = text.split(" ");
		return new Target(Names.parse(Backend.class, words[0]), Names.parse(Database.class, words[1]),
				Names.parse(Isolation.class, words[2]), Names.parse(Level.class, words[3]));
	}

}
