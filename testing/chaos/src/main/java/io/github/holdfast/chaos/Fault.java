package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.Set;

import io.github.holdfast.testsupport.FaultProxy;
import org.jspecify.annotations.Nullable;

/**
 * Something that goes wrong.
 *
 * @param at when, in milliseconds since the start of the run
 * @param kind what
 * @param place where
 * @param node the node it happens to; has no meaning at servers
 * @param millis for how long
 */
record Fault(int at, Kind kind, Place place, int node, int millis) {

	/**
	 * Faults of one lane come one after the other.
	 */
	String lane() {
		return this.place.name() + this.node;
	}

	@Override
	public String toString() {
		return "%d %s %s %d %d".formatted(this.at, Names.print(this.kind), Names.print(this.place), this.node,
				this.millis);
	}

	static Fault parse(String text) {
		String[] words = text.split(" ");
		return new Fault(Integer.parseInt(words[0]), Names.parse(Kind.class, words[1]),
				Names.parse(Place.class, words[2]), Integer.parseInt(words[3]), Integer.parseInt(words[4]));
	}

	/**
	 * Where faults happen.
	 */
	enum Place {

		/** The process of a node. */
		NODE,

		/** Between a node and the store of the locks. */
		STORE_NETWORK,

		/** Between a node and the database. */
		DATABASE_NETWORK,

		/** The server that keeps the locks. */
		STORE,

		/** The database. */
		DATABASE;

		/**
		 * Whether each node has one.
		 */
		boolean isOfNodes() {
			return ordinal() < STORE.ordinal();
		}

	}

	/**
	 * What goes wrong.
	 */
	enum Kind {

		/** SIGSTOP, and SIGCONT. */
		PAUSE(Place.NODE),

		/** SIGKILL, and another process. */
		KILL(Place.NODE),

		/** Bytes are late. */
		DELAY(Place.STORE_NETWORK, Place.DATABASE_NETWORK),

		/** No bytes pass. */
		BLACKHOLE(FaultProxy.Fault.BLACKHOLE),

		/** No requests pass. */
		HOLD_REQUESTS(FaultProxy.Fault.HOLD_REQUESTS),

		/** No replies pass. */
		HOLD_REPLIES(FaultProxy.Fault.HOLD_REPLIES),

		/** Replies are lost, including those to COMMIT, then all connections. */
		DROP_REPLIES(FaultProxy.Fault.DROP_REPLIES),

		/** All connections break. */
		RESET(Place.STORE_NETWORK, Place.DATABASE_NETWORK),

		/** All connections break, and new ones are refused. */
		REFUSE(FaultProxy.Fault.REFUSE),

		/** The database commits, and the connection breaks before the answer. */
		COMMIT_REPLY_LOST(FaultProxy.Fault.BREAK_COMMITS, Place.DATABASE_NETWORK),

		/** The connection breaks, and the database commits after that. */
		COMMIT_LATE(FaultProxy.Fault.LATE_COMMITS, Place.DATABASE_NETWORK),

		/** All locks are lost: FLUSHALL, or an operator deletes the rows. */
		FORGET(Place.STORE),

		/** The clock goes forward or back, and returns later. */
		CLOCK_JUMP(Place.STORE),

		/** Redis forgets its scripts. */
		SCRIPT_FLUSH(Place.STORE),

		/** Redis ends all subscriptions. */
		SUBSCRIPTIONS_KILLED(Place.STORE),

		/** Redis answers nobody for a while. */
		CLIENT_PAUSE(Place.STORE),

		/** Redis is killed and starts again with its data. */
		RESTART(Place.STORE),

		/** Redis is killed and starts again without its data. */
		RESTART_EMPTY(Place.STORE),

		/** The replica of Redis gets nothing for a while, and then becomes the master. */
		PROMOTION(Place.STORE),

		/** The database ends all sessions of the nodes. */
		SESSIONS_KILLED(Place.DATABASE),

		/** The database ends every second session, such as one of two of a thread. */
		SOME_SESSIONS_KILLED(Place.DATABASE),

		/** The database ends the sessions that are idle, even in a transaction. */
		IDLE_SESSIONS_KILLED(Place.DATABASE);

		private static final Set<Kind> LASTING = EnumSet.of(PAUSE, KILL, DELAY, CLOCK_JUMP, CLIENT_PAUSE, PROMOTION);

		private final FaultProxy.@Nullable Fault network;

		private final Set<Place> places;

		Kind(Place... places) {
			this.network = null;
			this.places = Set.of(places);
		}

		Kind(FaultProxy.Fault network) {
			this(network, Place.STORE_NETWORK, Place.DATABASE_NETWORK);
		}

		Kind(FaultProxy.Fault network, Place... places) {
			this.network = network;
			this.places = Set.of(places);
		}

		/**
		 * What a proxy does.
		 */
		FaultProxy.@Nullable Fault network() {
			return this.network;
		}

		boolean happensAt(Place place) {
			return this.places.contains(place);
		}

		/**
		 * Whether it happens to COMMITs only, of which there may be none.
		 */
		boolean needsCommit() {
			return this == COMMIT_REPLY_LOST || this == COMMIT_LATE;
		}

		/**
		 * Whether it lasts for some time.
		 */
		boolean lasts() {
			return this.network != null || LASTING.contains(this);
		}

	}

}
