package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.awaitility.Awaitility.await;

/** A Redis Cluster of three masters. It has gone when it is closed or this JVM exits. */
public final class RedisCluster implements AutoCloseable {

	private static final int SLOTS = 16_384;

	private static final int MASTERS = 3;

	private final List<RedisServer> masters = new ArrayList<>();

	private RedisCluster() {
	}

	public static RedisCluster start(String... settings) {
		RedisCluster cluster = new RedisCluster();
		try {
			String[] all = Stream.concat(Stream.of("--cluster-enabled", "yes"), Stream.of(settings))
				.toArray(String[]::new);
			for (int i = 0; i < MASTERS; i++) {
				cluster.masters.add(RedisServer.start(all));
			}
			cluster.form();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private void form() {
		for (int i = 0; i < MASTERS; i++) {
			RedisServer master = this.masters.get(i);
			Stream<String> slots = IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS)
				.mapToObj(String::valueOf);
			master.command(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots).toArray(String[]::new));
			master.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
			master.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(this.masters.get(0).port()));
		}
		await().atMost(Duration.ofMinutes(3)).until(() -> this.masters.stream().allMatch(RedisCluster::isComplete));
	}

	private static boolean isComplete(RedisServer master) {
		String info = master.command("CLUSTER", "INFO").toString();
		return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MASTERS)
				&& info.contains("cluster_size:" + MASTERS);
	}

	public List<RedisServer> masters() {
		return List.copyOf(this.masters);
	}

	public List<String> nodes() {
		return this.masters.stream().map((master) -> "127.0.0.1:" + master.port()).toList();
	}

	@Override
	public void close() {
		this.masters.forEach(RedisServer::close);
	}

}
