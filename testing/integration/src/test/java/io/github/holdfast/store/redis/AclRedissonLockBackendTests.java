package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.redisson.api.RedissonClient;

import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The contract as the user with the privileges that the documentation lists.
 */
@Tag("long")
@Tag("night")
class AclRedissonLockBackendTests extends AbstractRedissonLockBackendTests {

	private final RedisServer server = RedisServer.start();

	AclRedissonLockBackendTests() {
		// The keys of the contract have any beginning
		RedisUser.REDISSON.create(this.server, "");
	}

	@Override
	RedissonClient connect() {
		return RedissonClients.single(this.server.port(), RedisUser.NAME, RedisUser.PASSWORD);
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

}
