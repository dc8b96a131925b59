package io.github.holdfast.chaos;

import java.util.Set;

/**
 * Something that goes wrong.
 *
 * @param at when, in milliseconds since the start of the run
 * @param kind what
 * @param node the node it happens to; without meaning where it happens to a server
 * @param millis for how long
 */
record Fault(int at, Kind kind, int node, int millis) {

	/**
	 * What can only go wrong one after the other.
	 */
	String lane() {
		return (this.kind.place == Place.STORE || this.kind.place == Place.DATABASE) ? this.kind.place.name()
				: this.kind.place.name() + this.node;
	}

	@Override
	public String toString() {
		return "%d %s %d %d".formatted(this.at, Names.print(this.kind), this.node, this.millis);
	}

	static Fault parse(String text) {
		String[] words = text.split(" ");
		return new Fault(Integer.parseInt(words[0]), Names.parse(Kind.class, words[1]), Integer.parseInt(words[2]),
				Integer.parseInt(words[3]));
	}

	/**
	 * Where faults happen.
	 */
	enum Place {

		/** The process of a node. */
		NODE,

		/** Between a node and the store of the locks. */
		STORE_NETWORK,

		/** Between a node and the business database. */
		DATABASE_NETWORK,

		/** The server that keeps the locks. */
		STORE,

		/** The server of the business database. */
		DATABASE

	}

	/**
	 * What goes wrong.
	 */
	enum Kind {

		/** SIGSTOP, and SIGCONT. */
		PAUSE(Place.NODE),

		/** SIGKILL, and another process. */
		KILL(Place.NODE),

		/** All connections of the pool are in use. */
		POOL_EXHAUSTED(Place.NODE),

		/** The application context is stopped, and started again. */
		CONTEXT_PAUSE(Place.NODE),

		/** ZooKeeper ends the session of a node. */
		SESSION_EXPIRED(Place.NODE),

		/** Bytes are late. */
		STORE_DELAY(Place.STORE_NETWORK),

		/** No bytes pass. */
		STORE_BLACKHOLE(Place.STORE_NETWORK),

		/** No requests pass. */
		STORE_HOLD_REQUESTS(Place.STORE_NETWORK),

		/** No replies pass. */
		STORE_HOLD_REPLIES(Place.STORE_NETWORK),

		/** Replies are lost, then all connections. */
		STORE_DROP_REPLIES(Place.STORE_NETWORK),

		/** Only a few bytes pass in a second. */
		STORE_THROTTLE(Place.STORE_NETWORK),

		/** All connections break. */
		STORE_RESET(Place.STORE_NETWORK),

		/** All connections break, and there are no new ones. */
		STORE_REFUSE(Place.STORE_NETWORK),

		/** Bytes are late. */
		DATABASE_DELAY(Place.DATABASE_NETWORK),

		/** No bytes pass. */
		DATABASE_BLACKHOLE(Place.DATABASE_NETWORK),

		/** No requests pass. */
		DATABASE_HOLD_REQUESTS(Place.DATABASE_NETWORK),

		/** No replies pass. */
		DATABASE_HOLD_REPLIES(Place.DATABASE_NETWORK),

		/** Replies are lost, also those to COMMIT, then all connections. */
		DATABASE_DROP_REPLIES(Place.DATABASE_NETWORK),

		/** Only a few bytes pass in a second. */
		DATABASE_THROTTLE(Place.DATABASE_NETWORK),

		/** The database commits, and the connection breaks before it says so. */
		COMMIT_REPLY_LOST(Place.DATABASE_NETWORK),

		/** The connection breaks, and the database commits after that. */
		COMMIT_LATE(Place.DATABASE_NETWORK),

		/** All connections break. */
		DATABASE_RESET(Place.DATABASE_NETWORK),

		/** All connections break, and there are no new ones. */
		DATABASE_REFUSE(Place.DATABASE_NETWORK),

		/** All locks are gone: FLUSHALL, or an operator deletes the rows. */
		FORGET(Place.STORE),

		/** SCRIPT FLUSH. */
		SCRIPT_FLUSH(Place.STORE),

		/** CLIENT PAUSE. */
		CLIENT_PAUSE(Place.STORE),

		/** SIGSTOP, and SIGCONT, of the store. */
		STORE_PAUSE(Place.STORE),

		/** The store has no space left. */
		STORE_FULL(Place.STORE),

		/** CLIENT KILL of the subscriptions. */
		SUBSCRIPTIONS_KILLED(Place.STORE),

		/** The store is killed and starts again with its data. */
		RESTART(Place.STORE),

		/** The store is killed and starts again without its data. */
		RESTART_EMPTY(Place.STORE),

		/** The replica gets nothing for a while, and then replaces the master. */
		PROMOTION(Place.STORE),

		/** The clock of the store goes forward or back, and comes back later. */
		CLOCK_JUMP(Place.STORE),

		/** The leader of the ensemble is killed, and another server starts later. */
		LEADER_KILLED(Place.STORE),

		/** The store forgets its earlier revisions. */
		COMPACTION(Place.STORE),

		/** The database ends all sessions of the nodes. */
		SESSIONS_KILLED(Place.DATABASE),

		/** The database ends all sessions that wait for a statement. */
		IDLE_SESSIONS_KILLED(Place.DATABASE);

		private static final Set<Kind> MOMENTS = Set.of(SESSION_EXPIRED, STORE_RESET, DATABASE_RESET, FORGET,
				SCRIPT_FLUSH, SUBSCRIPTIONS_KILLED, RESTART, RESTART_EMPTY, COMPACTION, SESSIONS_KILLED,
				IDLE_SESSIONS_KILLED);

		private final Place place;

		Kind(Place place) {
			this.place = place;
		}

		Place place() {
			return this.place;
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
			return !MOMENTS.contains(this);
		}

	}

}
