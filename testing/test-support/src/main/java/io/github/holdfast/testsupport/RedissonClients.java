package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson clients of the servers that tests start, to be closed by the test. */
public final class RedissonClients {

	private RedissonClients() {
	}

	public static RedissonClient single(int port, String... user) {
		return create((config) -> as(user, config).useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setConnectionMinimumIdleSize(2));
	}

	public static RedissonClient cluster(RedisCluster cluster, String... user) {
		return create((config) -> as(user, config).useClusterServers()
			.addNodeAddress(addresses(cluster.nodes().stream()))
			.setMasterConnectionMinimumIdleSize(2)
			.setSlaveConnectionMinimumIdleSize(2));
	}

	private static Config as(String[] user, Config config) {
		return (user.length > 0) ? config.setUsername(user[0]).setPassword(user[1]) : config;
	}

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

	public static RedissonClient create(Consumer<Config> servers) {
		Config config = new Config();
		config.setThreads(2).setNettyThreads(4);
		servers.accept(config);
		return Redisson.create(config);
	}

	public static void close(RedissonClient client) {
		client.shutdown(0, Duration.ofSeconds(10).toMillis(), TimeUnit.MILLISECONDS);
	}

}
