package io.github.holdfast.testsupport;

import java.time.Duration;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Clients of the Redis servers that tests start, to be closed by the test. */
public final class RedisConnections {

	private RedisConnections() {
	}

	public static LettuceConnectionFactory lettuce(int port) {
		return lettuce(standalone(port));
	}

	public static LettuceConnectionFactory lettuce(int port, String user, String password) {
		RedisStandaloneConfiguration configuration = standalone(port);
		configuration.setUsername(user);
		configuration.setPassword(password);
		return lettuce(configuration);
	}

	public static LettuceConnectionFactory lettuce(RedisCluster cluster) {
		return lettuce(new RedisClusterConfiguration(cluster.nodes()));
	}

	public static LettuceConnectionFactory lettuce(RedisSentinels sentinels) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration();
		configuration.setMaster(RedisSentinels.MASTER);
		sentinels.nodes().forEach((node) -> configuration.addSentinel(RedisNode.fromString(node)));
		return lettuce(configuration);
	}

	/** Lettuce on one server, as the only one of a master with replicas. */
	public static LettuceConnectionFactory masterReplica(int port) {
		return lettuce(new RedisStaticMasterReplicaConfiguration("127.0.0.1", port));
	}

	private static LettuceConnectionFactory lettuce(RedisConfiguration configuration) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder().shutdownQuietPeriod(Duration.ZERO).build());
		factory.afterPropertiesSet();
		return factory;
	}

	public static LettuceConnectionFactory lettuce(RedisCluster cluster, String user, String password) {
		RedisClusterConfiguration configuration = new RedisClusterConfiguration(cluster.nodes());
		configuration.setUsername(user);
		configuration.setPassword(password);
		return lettuce(configuration);
	}

	private static RedisStandaloneConfiguration standalone(int port) {
		return new RedisStandaloneConfiguration("127.0.0.1", port);
	}

	public static void close(RedisConnectionFactory factory) {
		try {
			((DisposableBean) factory).destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
