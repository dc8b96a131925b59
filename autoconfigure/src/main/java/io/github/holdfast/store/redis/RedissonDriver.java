package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.redisson.api.RScript;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.store.redis.LockScript.LockKey;

/**
 * Redisson, through its public API. Redisson maps the names, repeats what has no answer,
 * and fails it after its own timeouts.
 */
final class RedissonDriver implements RedisDriver {

	private static final Logger logger = LoggerFactory.getLogger(RedissonDriver.class);

	private final RedissonClient client;

	private final RScript scripts;

	private final AtomicBoolean warned = new AtomicBoolean();

	RedissonDriver(RedissonClient client) {
		this.client = client;
		this.scripts = client.getScript(StringCodec.INSTANCE);
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, LockKey key, Duration timeout, String... args) {
		List<Object> names = List.copyOf(key.names());
		return this.scripts
			.evalAsync(key.names().get(0), RScript.Mode.READ_WRITE, script.lua(), RScript.ReturnType.LIST, names,
					(Object[]) args)
			.<List<Object>>thenApply(
					(answer) -> (answer instanceof List<?> list) ? new ArrayList<>(list) : List.of(answer))
			.toCompletableFuture();
	}

	/**
	 * The codec is that of {@code RLock}, because a client has one codec for each
	 * channel.
	 */
	@Override
	public Runnable listen(String channel, Runnable signal) {
		RTopic topic = this.client.getTopic(channel, LongCodec.INSTANCE);
		CompletableFuture<Integer> subscribed = topic.addListenerAsync(Long.class, (name, message) -> signal.run())
			.toCompletableFuture();
		subscribed.whenComplete((id, ex) -> {
			if (ex != null && this.warned.compareAndSet(false, true)) {
				logger.warn("Redis does not report releases of locks, so waiters poll twice a second", ex);
			}
			signal.run();
		});
		return () -> subscribed.thenAccept(topic::removeListenerAsync);
	}

	@Override
	public String server() {
		return "Redis (by Redisson)";
	}

}
