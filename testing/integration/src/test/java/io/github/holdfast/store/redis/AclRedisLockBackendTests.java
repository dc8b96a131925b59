package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract as the user with the privileges that the documentation lists.
 */
@Tag("long")
class AclRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisServer server = RedisServer.start();

	AclRedisLockBackendTests() {
		// The keys of the contract have any beginning
		RedisUser.SPRING.create(this.server, "");
	}

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.server.port(), RedisUser.NAME, RedisUser.PASSWORD);
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

}
