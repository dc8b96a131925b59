package io.github.holdfast.store.redis;

import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract with fair requests through Lettuce.
 */
@Tag("long")
@Tag("night")
class FairRedisLockBackendTests extends AbstractRedisLockBackendTests {

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(RedisServer.shared().port());
	}

	@Override
	LockBackend backend(RedisConnectionFactory connections) {
		return new FairRequests(super.backend(connections));
	}

}
