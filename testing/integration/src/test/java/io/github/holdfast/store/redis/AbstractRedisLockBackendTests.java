package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;
import io.github.holdfast.testsupport.RedisConnections;

/**
 * The contract on Redis, with connections of its own for each client.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractRedisLockBackendTests extends SharedLockContractTests {

	private RedisConnectionFactory first;

	private RedisConnectionFactory second;

	private LockBackend backend;

	private LockBackend secondBackend;

	abstract RedisConnectionFactory connect();

	LockBackend backend(RedisConnectionFactory connections) {
		return new RedisLockBackend(() -> connections);
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
		RedisConnections.close(this.first);
		RedisConnections.close(this.second);
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
