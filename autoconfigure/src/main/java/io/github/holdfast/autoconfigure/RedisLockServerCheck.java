package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.redis.RedisLockBackend;

/**
 * Fails the start when no lock can be taken in Redis, and warns when Redis may evict
 * locks that are held.
 */
class RedisLockServerCheck implements SmartInitializingSingleton {

	private final Supplier<RedisConnectionFactory> connectionFactory;

	private final LockProperties properties;

	RedisLockServerCheck(Supplier<RedisConnectionFactory> connectionFactory, LockProperties properties) {
		this.connectionFactory = connectionFactory;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		RedisProbe probe = new RedisProbe(LockBackendType.REDIS, "'spring.data.redis'", Duration.ZERO);
		probe.takeLock(new RedisLockBackend(this.connectionFactory), this.properties);
		probe.checkEviction(this::policies);
	}

	private Stream<String> policies() {
		try (RedisConnection connection = this.connectionFactory.get().getConnection()) {
			Properties info = connection.serverCommands().info("memory");
			return info.stringPropertyNames()
				.stream()
				.filter((name) -> name.endsWith("maxmemory_policy"))
				.map(info::getProperty);
		}
	}

}
