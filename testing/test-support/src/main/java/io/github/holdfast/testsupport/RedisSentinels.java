package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.awaitility.Awaitility.await;

/** A Redis master with a replica, watched by three Sentinels, until this is closed. */
public final class RedisSentinels implements AutoCloseable {

	public static final String MASTER = "holdfast";

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private final List<RedisServer> servers = new ArrayList<>();

	private final List<RedisServer> sentinels = new ArrayList<>();

	private RedisSentinels() {
	}

	public static RedisSentinels start() {
		RedisSentinels all = new RedisSentinels();
		try {
			all.form();
			return all;
		}
		catch (RuntimeException ex) {
			all.close();
			throw ex;
		}
	}

	private void form() {
		RedisServer master = RedisServer.start("--repl-diskless-sync-delay", "0");
		this.servers.add(master);
		this.servers.add(RedisServer.start("--replicaof", "127.0.0.1", String.valueOf(master.port()),
				"--repl-diskless-sync-delay", "0"));
		for (int i = 0; i < 3; i++) {
			RedisServer sentinel = RedisServer.start("--sentinel");
			this.sentinels.add(sentinel);
			sentinel.command("SENTINEL", "MONITOR", MASTER, "127.0.0.1", String.valueOf(master.port()), "2");
			sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", "30000", "failover-timeout", "5000");
		}
		await().atMost(PATIENCE)
			.until(() -> this.servers.get(1).info("master_link_status").equals("up")
					&& this.sentinels.stream().allMatch(RedisSentinels::isComplete));
	}

	private static boolean isComplete(RedisServer sentinel) {
		String status = sentinel.info("master0");
		return status.contains("status=ok") && status.contains("slaves=1") && status.contains("sentinels=3");
	}

	public RedisServer master() {
		List<?> address = (List<?>) this.sentinels.get(0).command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER);
		return this.servers.stream()
			.filter((server) -> address.contains(String.valueOf(server.port())))
			.findFirst()
			.orElseThrow();
	}

	public List<String> nodes() {
		return this.sentinels.stream().map((sentinel) -> "127.0.0.1:" + sentinel.port()).toList();
	}

	/** Kills the master, and waits until the replica has taken over. */
	public void failOver() {
		RedisServer old = master();
		// Only now, since a master that is slow must not be replaced
		this.sentinels
			.forEach((sentinel) -> sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", "1000"));
		old.kill();
		await().atMost(PATIENCE).until(() -> master() != old && master().info("role").equals("master"));
	}

	@Override
	public void close() {
		this.sentinels.forEach(RedisServer::close);
		this.servers.forEach(RedisServer::close);
	}

}
