package io.github.holdfast.redis;

import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract on one Redis server with Jedis.
 */
@Tag("long")
class JedisRedisLockBackendTests extends AbstractRedisLockBackendTests {

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.jedis(RedisServer.shared().port());
	}

}
