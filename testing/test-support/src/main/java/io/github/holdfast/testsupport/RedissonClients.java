package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson clients of the servers that tests start, to be closed by the test.
 */
public final class RedissonClients {

	private RedissonClients() {
	}

	/**
	 * A client of one server.
	 */
	public static RedissonClient single(int port) {
		return create((config) -> single(config, port));
	}

	/**
	 * A client of one server, as a user.
	 */
	public static RedissonClient single(int port, String user, String password) {
		return create((config) -> single(config.setUsername(user).setPassword(password), port));
	}

	private static void single(Config config, int port) {
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port).setConnectionMinimumIdleSize(2);
	}

	/**
	 * A client of a Cluster.
	 */
	public static RedissonClient cluster(RedisCluster cluster) {
		return create((config) -> cluster(config, cluster));
	}

	/**
	 * A client of a Cluster, as a user.
	 */
	public static RedissonClient cluster(RedisCluster cluster, String user, String password) {
		return create((config) -> cluster(config.setUsername(user).setPassword(password), cluster));
	}

	private static void cluster(Config config, RedisCluster cluster) {
		config.useClusterServers()
			.addNodeAddress(addresses(cluster.nodes().stream()))
			.setMasterConnectionMinimumIdleSize(2)
			.setSlaveConnectionMinimumIdleSize(2);
	}

	/**
	 * A client of the master that Sentinels tell.
	 */
	public static RedissonClient sentinel(RedisSentinels sentinels) {
		return create((config) -> config.useSentinelServers()
			.setMasterName(RedisSentinels.MASTER)
			.addSentinelAddress(addresses(sentinels.nodes().stream()))
			.setMasterConnectionMinimumIdleSize(2)
			.setSlaveConnectionMinimumIdleSize(2));
	}

	private static String[] addresses(Stream<String> nodes) {
		return nodes.map((node) -> "redis://" + node).toArray(String[]::new);
	}

	/**
	 * A client, with few threads.
	 */
	public static RedissonClient create(Consumer<Config> servers) {
		Config config = new Config();
		config.setThreads(2).setNettyThreads(4);
		servers.accept(config);
		return Redisson.create(config);
	}

	/**
	 * Closes all connections.
	 */
	public static void close(RedissonClient client) {
		client.shutdown(0, Duration.ofSeconds(10).toMillis(), TimeUnit.MILLISECONDS);
	}

}
