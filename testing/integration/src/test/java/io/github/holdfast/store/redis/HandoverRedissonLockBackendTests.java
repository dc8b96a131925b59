package io.github.holdfast.store.redis;

import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract on one Redis server with two JVMs' local queues in front of it.
 */
@Tag("long")
@Tag("night")
class HandoverRedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	@Override
	RedissonClient connect() {
		return RedissonClients.single(RedisServer.shared().port());
	}

	@Override
	LockBackend backend(RedissonClient client) {
		return new HandoverLockBackend(super.backend(client));
	}

}
