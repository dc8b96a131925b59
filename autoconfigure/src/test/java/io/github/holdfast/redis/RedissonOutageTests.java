package io.github.holdfast.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.OutageContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

/**
 * Calls while Redis is down.
 */
@Tag("long")
class RedissonOutageTests extends OutageContractTests {

	private static final RedisServer server = RedisServer.start();

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() throws Exception {
		return RedisTestStore.redisson(server);
	}

}
