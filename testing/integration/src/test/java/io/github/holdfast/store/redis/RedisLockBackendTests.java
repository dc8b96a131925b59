package io.github.holdfast.store.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract on one Redis server with Lettuce.
 */
class RedisLockBackendTests extends AbstractRedisLockBackendTests {

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(RedisServer.shared().port());
	}

}
