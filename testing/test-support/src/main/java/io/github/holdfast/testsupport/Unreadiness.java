package io.github.holdfast.testsupport;

import java.util.stream.IntStream;
import java.util.stream.Stream;

import redis.clients.jedis.exceptions.JedisException;

import static org.awaitility.Awaitility.await;

/**
 * Why a Redis server refuses requests for a while.
 */
public enum Unreadiness {

	/** It has become a replica. */
	READONLY {

		@Override
		public void begin(RedisServer server) {
			server.command("REPLICAOF", "127.0.0.1", "1");
		}

		@Override
		public void end(RedisServer server) {
			server.command("REPLICAOF", "NO", "ONE");
		}

	},

	/** It is a replica that has lost its master. */
	MASTERDOWN {

		@Override
		public void begin(RedisServer server) {
			server.command("CONFIG", "SET", "replica-serve-stale-data", "no");
			READONLY.begin(server);
		}

		@Override
		public void end(RedisServer server) {
			READONLY.end(server);
		}

	},

	/** It has too few replicas. */
	NOREPLICAS {

		@Override
		public void begin(RedisServer server) {
			server.command("CONFIG", "SET", "min-replicas-to-write", "1");
		}

		@Override
		public void end(RedisServer server) {
			server.command("CONFIG", "SET", "min-replicas-to-write", "0");
		}

	},

	/** Somebody's script does not end. */
	BUSY {

		@Override
		public void begin(RedisServer server) {
			server.command("CONFIG", "SET", "lua-time-limit", "1");
			Thread script = new Thread(() -> {
				try {
					server.command("EVAL", "while true do end", "0");
				}
				catch (JedisException ex) {
					// It was killed
				}
			});
			script.setDaemon(true);
			script.start();
			await().until(() -> {
				try {
					return !server.command("GET", "any").equals("(nil)");
				}
				catch (JedisException ex) {
					return true;
				}
			});
		}

		@Override
		public void end(RedisServer server) {
			server.command("SCRIPT", "KILL");
		}

	},

	/** It is the only one of a Cluster, and has no slots. */
	CLUSTERDOWN {

		@Override
		public void begin(RedisServer server) {
			server.command(slots("DELSLOTS"));
		}

		@Override
		public void end(RedisServer server) {
			server.command(slots("ADDSLOTS"));
		}

		@Override
		public RedisServer start() {
			RedisServer server = RedisServer.start("--cluster-enabled", "yes");
			end(server);
			await().until(() -> server.command("CLUSTER", "INFO").toString().contains("cluster_state:ok"));
			return server;
		}

		private static String[] slots(String command) {
			return Stream.concat(Stream.of("CLUSTER", command), IntStream.range(0, 16_384).mapToObj(String::valueOf))
				.toArray(String[]::new);
		}

	};

	/**
	 * Starts a server that is ready.
	 * @return the server
	 */
	public RedisServer start() {
		return RedisServer.start();
	}

	/**
	 * Makes a server refuse requests, with this name as the beginning of its answer.
	 * @param server a server that is ready
	 */
	public abstract void begin(RedisServer server);

	/**
	 * Makes the server ready again.
	 * @param server the server
	 */
	public abstract void end(RedisServer server);

}
