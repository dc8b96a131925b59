package io.github.holdfast.chaos;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.github.holdfast.chaos.Fault.Place;

/**
 * Which faults a run may meet.
 */
enum Weather {

	/** None. */
	CALM(),

	/** Nodes are paused or killed. */
	PROCESSES(Place.NODE),

	/** The network of the nodes fails. */
	NETWORK(Place.STORE_NETWORK, Place.DATABASE_NETWORK),

	/** Servers lose data and sessions. */
	SERVERS(Place.STORE, Place.DATABASE),

	/** The database ends sessions, while leases are long. */
	SESSIONS(Place.DATABASE),

	/** All of it. */
	STORM(Place.values());

	private final Set<Place> places;

	Weather(Place... places) {
		this.places = EnumSet.noneOf(Place.class);
		this.places.addAll(Arrays.asList(places));
	}

	List<Place> places() {
		return List.copyOf(this.places);
	}

	/**
	 * Whether leases end when a node is paused.
	 */
	boolean hasShortLeases() {
		return this != CALM && this != SESSIONS;
	}

	/**
	 * How many milliseconds there are at most between two faults of the same place. With
	 * all of them, something should still succeed now and then.
	 */
	int pause() {
		return (this == STORM) ? 2000 : 1000;
	}

	@Override
	public String toString() {
		return Names.print(this);
	}

}
