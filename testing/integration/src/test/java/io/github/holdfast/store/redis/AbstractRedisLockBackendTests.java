package io.github.holdfast.store.redis;

import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.SharedLockContractTests;

/** The contract on Redis through each client, with connections of their own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractRedisLockBackendTests extends SharedLockContractTests {

	@Parameter
	private RedisClientType client;

	private RedisNode first;

	private RedisNode second;

	abstract RedisNode connect(RedisClientType client);

	@BeforeParameterizedClassInvocation
	void open() {
		this.first = connect(this.client);
		this.second = connect(this.client);
	}

	@AfterParameterizedClassInvocation
	void close() {
		this.first.close();
		this.second.close();
	}

	@Override
	protected LockBackend backend() {
		return this.first.backend();
	}

	@Override
	protected LockBackend secondBackend() {
		return this.second.backend();
	}

}
