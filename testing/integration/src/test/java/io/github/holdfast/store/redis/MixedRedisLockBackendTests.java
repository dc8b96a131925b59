package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract on one Redis server, with Redisson for one client and Lettuce for the
 * other one: they have the same locks.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MixedRedisLockBackendTests extends SharedLockContractTests {

	private final RedissonClient redisson = RedissonClients.single(RedisServer.shared().port());

	private final RedisConnectionFactory lettuce = RedisConnections.lettuce(RedisServer.shared().port());

	private final LockBackend backend = RedisLockBackend.redisson(() -> this.redisson);

	private final LockBackend secondBackend = new RedisLockBackend(() -> this.lettuce);

	@AfterAll
	void close() {
		RedissonClients.close(this.redisson);
		RedisConnections.close(this.lettuce);
	}

	@Override
	protected LockBackend backend() {
		return this.backend;
	}

	@Override
	protected LockBackend secondBackend() {
		return this.secondBackend;
	}

}
