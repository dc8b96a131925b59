package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract as the user with the privileges that the documentation lists.
 */
@Tag("long")
@ParameterizedClass
@EnumSource(RedisClientType.class)
class AclRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisServer server = RedisServer.start();

	AclRedisLockBackendTests() {
		DocumentedUser.createForAllKeys(this.server);
	}

	@Override
	RedisNode connect(RedisClientType client) {
		return client.connect(this.server.port(), DocumentedUser.NAME, DocumentedUser.PASSWORD);
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

}
