package io.github.holdfast.store.redis;

import java.util.Optional;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

/**
 * The contract on Redis 7 or later, where it is installed.
 */
@Tag("long")
@Tag("night")
class Redis7LockBackendTests extends AbstractRedisLockBackendTests {

	private final Optional<RedisServer> server = RedisServer.startInstalled(7);

	@Override
	@BeforeAll
	void open() {
		Assumptions.assumeTrue(this.server.isPresent(), "redis-server 7 or later is not on the PATH");
		super.open();
	}

	@Override
	RedisConnectionFactory connect() {
		return RedisConnections.lettuce(this.server.orElseThrow().port());
	}

	@Override
	@AfterAll
	void close() {
		if (this.server.isPresent()) {
			super.close();
			this.server.get().close();
		}
	}

}
