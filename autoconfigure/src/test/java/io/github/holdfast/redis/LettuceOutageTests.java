package io.github.holdfast.redis;

import org.junit.jupiter.api.AfterAll;

import io.github.holdfast.testsupport.OutageContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

/**
 * Calls while Redis is down.
 */
class LettuceOutageTests extends OutageContractTests {

	private static final RedisServer server = RedisServer.start();

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() throws Exception {
		return RedisTestStore.lettuce(server);
	}

}
