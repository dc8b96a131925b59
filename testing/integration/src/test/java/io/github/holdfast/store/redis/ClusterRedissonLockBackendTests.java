package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract on a Redis Cluster with three masters.
 */
@Tag("long")
@Tag("night")
class ClusterRedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	private final RedisCluster cluster = RedisCluster.start();

	@Override
	RedissonClient connect() {
		return RedissonClients.cluster(this.cluster);
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

}
