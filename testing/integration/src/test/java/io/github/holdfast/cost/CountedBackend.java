package io.github.holdfast.cost;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.WireProtocol;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * The backends whose calls are counted, and the call without a lock that they are
 * compared with.
 */
enum CountedBackend {

	/** The same methods, without their locks. */
	NO_LOCK("no lock", List.of("")) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.jdbc(database).withPropertyValues("holdfast.enabled=false");
		}

	},

	LOCAL("`local`", Levels.ALL) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.jdbc(database).withPropertyValues("holdfast.backend=local");
		}

	},

	REDIS("`redis`", Levels.ALL) {

		@Override
		WireProtocol protocol() {
			return WireProtocol.REDIS;
		}

		@Override
		int port() {
			return RedisServer.shared().port();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return RedisStore.REDIS.application(database, port);
		}

	},

	REDISSON("`redisson`", Levels.ALL) {

		@Override
		WireProtocol protocol() {
			return WireProtocol.REDIS;
		}

		@Override
		int port() {
			return RedisServer.shared().port();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return RedisStore.REDISSON.application(database, port);
		}

	},

	ZOOKEEPER("`zookeeper`", Levels.ALL) {

		private @Nullable ZooKeeperServer server;

		@Override
		WireProtocol protocol() {
			return WireProtocol.ZOOKEEPER;
		}

		@Override
		int port() {
			if (this.server == null) {
				this.server = ZooKeeperServer.start();
			}
			return this.server.port();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.zooKeeper(database, "127.0.0.1:" + port);
		}

		@Override
		void stop() {
			if (this.server != null) {
				this.server.close();
				this.server = null;
			}
		}

	},

	ETCD("`etcd`", Levels.ALL) {

		private @Nullable EtcdServer server;

		@Override
		WireProtocol protocol() {
			return WireProtocol.ETCD;
		}

		@Override
		int port() {
			if (this.server == null) {
				this.server = EtcdServer.start();
			}
			return this.server.port();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.etcd(database, "http://127.0.0.1:" + port);
		}

		/**
		 * The lease of a lock is revoked after its release has been answered.
		 */
		@Override
		boolean isCleanedUp() {
			return this.server != null && this.server.leases() == 0;
		}

		@Override
		void stop() {
			if (this.server != null) {
				this.server.close();
				this.server = null;
			}
		}

	},

	/** Locked by the transactions themselves, which only this level knows. */
	JDBC("`jdbc`", List.of(Levels.FENCE)) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.jdbc(database).withPropertyValues("holdfast.backend=jdbc");
		}

	},

	JDBC_LEASE("`jdbc`, leases", Levels.ALL) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.jdbc(database)
				.withPropertyValues("holdfast.backend=jdbc", "holdfast.jdbc.mode=lease");
		}

	};

	private final String title;

	private final List<String> levels;

	CountedBackend(String title, List<String> levels) {
		this.title = title;
		this.levels = levels;
	}

	String title() {
		return this.title;
	}

	/**
	 * The levels of the guard that it can have.
	 */
	List<String> levels() {
		return this.levels;
	}

	/**
	 * What its store speaks, or {@code null} if that is the database or none.
	 */
	@Nullable WireProtocol protocol() {
		return null;
	}

	/**
	 * The port of its store, which is started if need be.
	 */
	int port() {
		return 0;
	}

	abstract ApplicationContextRunner application(DatabaseAccess database, int port);

	/**
	 * Whether a request to the store is none of a call: Redis is asked from time to time
	 * whether other JVMs wait.
	 */
	boolean isOfNoCall(String request) {
		return request.startsWith("PUBSUB NUMSUB");
	}

	/**
	 * Whether nothing of released locks is left in the store.
	 */
	boolean isCleanedUp() {
		return true;
	}

	void stop() {
	}

	/**
	 * All backends on all levels.
	 */
	static Stream<Counted> all() {
		return Stream.of(values())
			.flatMap((backend) -> backend.levels().stream().map((level) -> new Counted(backend, level)));
	}

	/**
	 * The levels of {@code holdfast.commit-guard}.
	 */
	static final class Levels {

		static final String LEASE = "lease";

		static final String FENCE = "fence";

		static final List<String> ALL = List.of(LEASE, "verify", FENCE);

		private Levels() {
		}

	}

	/**
	 * A backend on one level.
	 *
	 * @param backend the backend
	 * @param level the level, empty without locks
	 */
	record Counted(CountedBackend backend, String level) {

		@Override
		public String toString() {
			return this.backend.title() + " " + this.level;
		}

	}

}
