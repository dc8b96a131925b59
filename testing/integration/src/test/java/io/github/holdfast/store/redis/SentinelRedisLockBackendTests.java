package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.RedisSentinels;

/** The contract on a Redis master that Sentinels tell. */
@Tag("long")
@Tag("night")
@ParameterizedClass
@EnumSource(RedisClientType.class)
class SentinelRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisSentinels sentinels = RedisSentinels.start();

	@Override
	RedisNode connect(RedisClientType client) {
		return client.connect(this.sentinels);
	}

	@AfterAll
	void stop() {
		this.sentinels.close();
	}

}
