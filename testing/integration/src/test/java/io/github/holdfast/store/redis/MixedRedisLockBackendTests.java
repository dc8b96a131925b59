package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;
import io.github.holdfast.testsupport.RedisServer;

/** The contract with Redisson for one client and Lettuce for the other one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MixedRedisLockBackendTests extends SharedLockContractTests {

	@AutoClose
	private final RedisNode redisson = RedisClientType.REDISSON.connect(RedisServer.shared().port());

	@AutoClose
	private final RedisNode lettuce = RedisClientType.LETTUCE.connect(RedisServer.shared().port());

	@Override
	protected LockBackend backend() {
		return this.redisson.backend();
	}

	@Override
	protected LockBackend secondBackend() {
		return this.lettuce.backend();
	}

}
