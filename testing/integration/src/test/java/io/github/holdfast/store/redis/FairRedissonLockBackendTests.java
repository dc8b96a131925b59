package io.github.holdfast.store.redis;

import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract with fair requests through Redisson.
 */
@Tag("long")
@Tag("night")
class FairRedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	@Override
	RedissonClient connect() {
		return RedissonClients.single(RedisServer.shared().port());
	}

	@Override
	LockBackend backend(RedissonClient client) {
		return new FairRequests(super.backend(client));
	}

}
