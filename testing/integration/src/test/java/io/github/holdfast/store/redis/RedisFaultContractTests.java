package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

/**
 * The contract of faults on one Redis server. Faults that only Redis has are in
 * {@link RedisLockFaultTests}.
 */
@ParameterizedClass
@EnumSource(RedisClientType.class)
class RedisFaultContractTests extends LockFaultContractTests {

	private static RedisServer server;

	@Parameter
	private RedisClientType client;

	@BeforeAll
	static void start() {
		server = RedisServer.start();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		return new RedisTestStore(server, this.client);
	}

}
