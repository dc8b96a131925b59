package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisSentinels;

/**
 * The contract on a Redis master that Sentinels tell.
 */
@Tag("long")
@Tag("night")
class SentinelRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisSentinels sentinels = RedisSentinels.start();

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.sentinels);
	}

	@AfterAll
	void stop() {
		this.sentinels.close();
	}

}
