package io.github.holdfast.chaos;

import java.util.List;

import io.github.holdfast.chaos.Fault.Place;

/** Which faults a run may meet. {@link #SESSIONS} are those of the database. */
enum Weather {

	CALM(),

	PROCESSES(Place.NODE),

	NETWORK(Place.STORE_NETWORK, Place.DATABASE_NETWORK),

	SERVERS(Place.STORE, Place.DATABASE),

	SESSIONS(Place.DATABASE),

	STORM(Place.values());

	final List<Place> places;

	Weather(Place... places) {
		this.places = List.of(places);
	}

	/** Whether leases end when a node is paused. */
	boolean hasShortLeases() {
		return this != CALM && this != SESSIONS;
	}

	/** The longest time between two faults of a place, in milliseconds. */
	int pause() {
		return (this == STORM) ? 4000 : 1500;
	}

}
