package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LeaseExpiryContractTests;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;

/**
 * The contract on three independent masters, with connections of its own for each client.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class QuorumRedisLockBackendTests extends LeaseExpiryContractTests {

	private final RedisQuorum quorum = new RedisQuorum();

	/** Only its settings are used. */
	private final LettuceConnectionFactory settings = RedisConnections.lettuce(1);

	private final RedisQuorumLockBackend backend = new RedisQuorumLockBackend(this.settings, this.quorum.nodes());

	private final RedisQuorumLockBackend secondBackend = new RedisQuorumLockBackend(this.settings, this.quorum.nodes());

	@AfterAll
	void close() {
		this.backend.close();
		this.secondBackend.close();
		RedisConnections.close(this.settings);
		this.quorum.close();
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
