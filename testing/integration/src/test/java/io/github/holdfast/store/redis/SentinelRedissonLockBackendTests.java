package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

import io.github.holdfast.testsupport.RedisSentinels;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract on a Redis master that Sentinels tell.
 */
@Tag("long")
@Tag("night")
class SentinelRedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	private final RedisSentinels sentinels = RedisSentinels.start();

	@Override
	RedissonClient connect() {
		return RedissonClients.sentinel(this.sentinels);
	}

	@AfterAll
	void stop() {
		this.sentinels.close();
	}

}
