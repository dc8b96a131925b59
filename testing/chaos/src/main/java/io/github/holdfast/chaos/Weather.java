package io.github.holdfast.chaos;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Which faults a run may meet.
 */
enum Weather {

	/** None. */
	CALM(Set.of()),

	/** Nodes stand still or die. */
	PROCESSES(Set.of(Fault.Place.NODE)),

	/** The network of the nodes fails. */
	NETWORK(Set.of(Fault.Place.STORE_NETWORK, Fault.Place.DATABASE_NETWORK)),

	/** Servers lose data or sessions. */
	SERVERS(Set.of(Fault.Place.STORE, Fault.Place.DATABASE)),

	/** The database ends sessions, while leases are long. */
	SESSIONS(Set.of(Fault.Place.DATABASE)),

	/** All of it. */
	STORM(Set.of(Fault.Place.values()));

	private final Set<Fault.Place> places;

	Weather(Set<Fault.Place> places) {
		this.places = places;
	}

	List<Fault.Kind> kinds(Backend backend, Fault.Place place) {
		return Arrays.stream(Fault.Kind.values())
			.filter((kind) -> kind.place() == place && backend.suffers(kind))
			.toList();
	}

	List<Fault.Place> places() {
		return Arrays.stream(Fault.Place.values()).filter(this.places::contains).toList();
	}

	/**
	 * Whether leases end when a node stands still.
	 */
	boolean hasShortLeases() {
		return this != CALM && this != SESSIONS;
	}

	/**
	 * How many milliseconds there are at most between two faults of the same place. With
	 * all of them, something should still work now and then.
	 */
	int pause() {
		return (this == STORM) ? 2500 : 1500;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
