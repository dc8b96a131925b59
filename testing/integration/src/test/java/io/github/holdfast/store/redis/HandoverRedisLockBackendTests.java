package io.github.holdfast.store.redis;

import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract on one Redis server with two JVMs' local queues in front of it.
 */
@Tag("long")
@Tag("night")
class HandoverRedisLockBackendTests extends AbstractRedisLockBackendTests {

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(RedisServer.shared().port());
	}

	@Override
	LockBackend backend(RedisConnectionFactory connections) {
		return new HandoverLockBackend(super.backend(connections));
	}

}
