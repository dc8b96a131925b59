package io.github.holdfast.store.redis;

import org.redisson.api.RedissonClient;

import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract on one Redis server.
 */
class RedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	@Override
	RedissonClient connect() {
		return RedissonClients.single(RedisServer.shared().port());
	}

}
