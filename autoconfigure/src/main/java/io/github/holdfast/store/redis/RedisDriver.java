package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

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

	static String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : value.toString();
	}

}
