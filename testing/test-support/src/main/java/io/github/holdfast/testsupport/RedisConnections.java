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

	public static LettuceConnectionFactory lettuce(int port, String... user) {
		return lettuce(as(user, new RedisStandaloneConfiguration("127.0.0.1", port)));
	}

	public static LettuceConnectionFactory lettuce(RedisCluster cluster, String... user) {
		return lettuce(as(user, new RedisClusterConfiguration(cluster.nodes())));
	}

	private static <T extends RedisConfiguration.WithAuthentication> T as(String[] user, T configuration) {
		if (user.length > 0) {
			configuration.setUsername(user[0]);
			configuration.setPassword(user[1]);
		}
		return configuration;
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

	public static void close(RedisConnectionFactory factory) {
		try {
			((DisposableBean) factory).destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
