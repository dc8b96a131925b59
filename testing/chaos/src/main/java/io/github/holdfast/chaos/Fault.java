package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.Set;

import io.github.holdfast.testsupport.FaultProxy;
import org.jspecify.annotations.Nullable;

/** Something that goes wrong at some time for some time, in milliseconds. */
record Fault(int at, Kind kind, Place place, int node, int millis) {

	/** Faults of one lane come one after the other. */
	String lane() {
		return this.place.name() + this.node;
	}

	/** Where faults happen: in a node, between it and a server, or in a server. */
	enum Place {

		NODE, STORE_NETWORK, DATABASE_NETWORK, STORE, DATABASE;

		boolean isOfNodes() {
			return this != STORE && this != DATABASE;
		}

	}

	/**
	 * What goes wrong. A promotion makes the replica of Redis the master, which has got
	 * nothing for a while. At the end of some sessions, each second one ends, such as one
	 * of two of a thread. Clocks go forward or back, and return later.
	 */
	enum Kind {

		PAUSE(Place.NODE), KILL(Place.NODE),

		DELAY(Place.STORE_NETWORK, Place.DATABASE_NETWORK), BLACKHOLE(FaultProxy.Fault.BLACKHOLE),
		HOLD_REQUESTS(FaultProxy.Fault.HOLD_REQUESTS), HOLD_REPLIES(FaultProxy.Fault.HOLD_REPLIES),
		DROP_REPLIES(FaultProxy.Fault.DROP_REPLIES), RESET(Place.STORE_NETWORK, Place.DATABASE_NETWORK),
		REFUSE(FaultProxy.Fault.REFUSE), COMMIT_REPLY_LOST(FaultProxy.Fault.BREAK_COMMITS, Place.DATABASE_NETWORK),
		COMMIT_LATE(FaultProxy.Fault.LATE_COMMITS, Place.DATABASE_NETWORK),

		FORGET(Place.STORE), CLOCK_JUMP(Place.STORE), SCRIPT_FLUSH(Place.STORE), SUBSCRIPTIONS_KILLED(Place.STORE),
		CLIENT_PAUSE(Place.STORE), RESTART(Place.STORE), RESTART_EMPTY(Place.STORE), PROMOTION(Place.STORE),

		SESSIONS_KILLED(Place.DATABASE), SOME_SESSIONS_KILLED(Place.DATABASE), IDLE_SESSIONS_KILLED(Place.DATABASE);

		private static final Set<Kind> LASTING = EnumSet.of(PAUSE, KILL, DELAY, CLOCK_JUMP, CLIENT_PAUSE, PROMOTION);

		final FaultProxy.@Nullable Fault network;

		private final Set<Place> places;

		Kind(Place... places) {
			this(null, places);
		}

		Kind(FaultProxy.Fault network) {
			this(network, Place.STORE_NETWORK, Place.DATABASE_NETWORK);
		}

		Kind(FaultProxy.@Nullable Fault network, Place... places) {
			this.network = network;
			this.places = Set.of(places);
		}

		boolean happensAt(Place place) {
			return this.places.contains(place);
		}

		/** Whether it happens to COMMITs only, of which there may be none. */
		boolean needsCommit() {
			return this == COMMIT_REPLY_LOST || this == COMMIT_LATE;
		}

		boolean lasts() {
			return this.network != null || LASTING.contains(this);
		}

	}

}
