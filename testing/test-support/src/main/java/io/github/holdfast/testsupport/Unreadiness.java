package io.github.holdfast.testsupport;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

import redis.clients.jedis.exceptions.JedisException;

import static org.awaitility.Awaitility.await;

/**
 * Why a Redis server refuses requests for a while, with this name as the beginning of its
 * answer.
 */
public enum Unreadiness {

	/** It has become a replica. */
	READONLY("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),

	/** It is a replica that has lost its master. */
	MASTERDOWN("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),

	/** It has too few replicas. */
	NOREPLICAS("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),

	/** Somebody's script does not end. */
	BUSY("CONFIG SET lua-time-limit 1", "SCRIPT KILL"),

	/** It is the only one of a Cluster, and has no slots. */
	CLUSTERDOWN("CLUSTER DELSLOTS" + slots(), "CLUSTER ADDSLOTS" + slots());

	private final String[] begin;

	private final String[] end;

	Unreadiness(String begin, String end) {
		this.begin = begin.split(" ");
		this.end = end.split(" ");
	}

	private static String slots() {
		return IntStream.range(0, 16_384).mapToObj((slot) -> " " + slot).collect(Collectors.joining());
	}

	/**
	 * Starts a server that is ready.
	 */
	public RedisServer start() {
		if (this != CLUSTERDOWN) {
			return RedisServer.start();
		}
		RedisServer server = RedisServer.start("--cluster-enabled", "yes");
		end(server);
		await().until(() -> server.command("CLUSTER", "INFO").toString().contains("cluster_state:ok"));
		return server;
	}

	public void begin(RedisServer server) {
		if (this == MASTERDOWN) {
			server.command("CONFIG", "SET", "replica-serve-stale-data", "no");
		}
		server.command(this.begin);
		if (this == BUSY) {
			Thread script = new Thread(() -> refuses(server, "EVAL", "while true do end", "0"));
			script.setDaemon(true);
			script.start();
			await().until(() -> refuses(server, "GET", "any"));
		}
	}

	private static boolean refuses(RedisServer server, String... command) {
		try {
			return !server.command(command).equals("(nil)");
		}
		catch (JedisException ex) {
			// It is busy, or the script was killed
			return true;
		}
	}

	public void end(RedisServer server) {
		server.command(this.end);
	}

}
