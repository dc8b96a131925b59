package io.github.holdfast.chaos;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a run is about: the store of the locks, the database, and what protects it. */
record Target(Backend backend, Database database, Isolation isolation, Level level) {

	Target at(Level other) {
		return new Target(this.backend, this.database, this.isolation, other);
	}

	boolean offers(Step.Kind kind) {
		return kind != Step.Kind.OPTIMISTIC || this.level == Level.FENCE && this.backend != Backend.REDIS;
	}

	boolean suffers(Fault.Kind kind, Fault.Place place) {
		return kind.happensAt(place) && this.backend.suffers(kind, place) && this.database.suffers(kind);
	}

	@Override
	public String toString() {
		return Stream.of(this.backend, this.database, this.isolation, this.level)
			.map(Names::print)
			.collect(Collectors.joining(" "));
	}

}
