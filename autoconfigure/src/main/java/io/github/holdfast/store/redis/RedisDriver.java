package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.store.redis.LockScript.LockKey;

/**
 * A client of Redis.
 */
interface RedisDriver {

	/**
	 * Run a script.
	 * @param script the script
	 * @param key the lock
	 * @param timeout after which the answer fails, unless the client has its own timeout
	 * @param args the arguments of the script
	 * @return the answer
	 */
	CompletableFuture<List<Object>> run(LockScript script, LockKey key, Duration timeout, String... args);

	/**
	 * Listen to a channel.
	 * @param channel the channel
	 * @param signal called for each message, and whenever one may have been missed
	 * @return stops listening
	 */
	Runnable listen(String channel, Runnable signal);

	/**
	 * The name of the server, for messages.
	 */
	String server();

	static LettuceConnectionFactory lettuce(RedisConnectionFactory factory) {
		boolean present = ClassUtils.isPresent("io.lettuce.core.AbstractRedisClient",
				RedisDriver.class.getClassLoader());
		if (present && factory instanceof LettuceConnectionFactory lettuce) {
			return lettuce;
		}
		throw new LockConfigurationException(
				"The lock backend 'redis' needs Lettuce, but the application's RedisConnectionFactory is a "
						+ factory.getClass().getSimpleName() + ".",
				"Use Lettuce, Spring Boot's default ('spring.data.redis.client-type'), or define a RedissonClient "
						+ "and set 'holdfast.backend' to 'redisson'.");
	}

	static String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : value.toString();
	}

}
