package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract on a Redis Cluster with three masters.
 */
class ClusterRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisCluster cluster = RedisCluster.start();

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.cluster);
	}

	@Test
	void keysInSeveralSlotsAreNotTakenAtOnce() {
		RedisConnectionFactory connections = connect();
		try {
			assertThat(new RedisLockBackend(() -> connections).acquireAll(
					List.of(RedisRequests.request("a", Duration.ZERO), RedisRequests.request("b", Duration.ZERO))))
				.isNull();
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

}
