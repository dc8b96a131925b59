package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract on Redis through Redisson, with a client of its own for each backend.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractRedissonLockBackendTests extends SharedLockContractTests {

	private RedissonClient first;

	private RedissonClient second;

	private LockBackend backend;

	private LockBackend secondBackend;

	abstract RedissonClient connect();

	LockBackend backend(RedissonClient client) {
		return RedisLockBackend.redisson(() -> client);
	}

	@BeforeAll
	void open() {
		this.first = connect();
		this.second = connect();
		this.backend = backend(this.first);
		this.secondBackend = backend(this.second);
	}

	@AfterAll
	void close() {
		RedissonClients.close(this.first);
		RedissonClients.close(this.second);
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
