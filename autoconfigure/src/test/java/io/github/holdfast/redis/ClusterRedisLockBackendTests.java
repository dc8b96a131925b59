package io.github.holdfast.redis;

import org.junit.jupiter.api.AfterAll;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;

/**
 * The contract on a Redis Cluster with three masters.
 */
class ClusterRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisCluster cluster = RedisCluster.start();

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.cluster);
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

}
