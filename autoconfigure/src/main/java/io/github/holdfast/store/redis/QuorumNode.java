package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.Polling.Deadline;
import io.github.holdfast.store.redis.LockScript.LockKey;

/**
 * One connection to one node of a quorum. It is opened at the first use, and Lettuce
 * restores it. Without a connection, requests fail at once.
 */
final class QuorumNode implements RedisDriver {

	private final RedisClient client;

	private final RedisURI address;

	private @Nullable CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection;

	private Deadline nextAttempt = Deadline.PASSED;

	private CompletableFuture<?> lastSent = CompletableFuture.completedFuture(null);

	QuorumNode(RedisClient client, RedisURI address) {
		this.client = client;
		this.address = address;
	}

	/**
	 * Sends requests in the order of the calls: a release must not overtake its
	 * acquisition. The callbacks of one future run in no fixed order.
	 */
	@Override
	public synchronized CompletableFuture<List<Object>> run(LockScript script, LockKey key, Duration timeout,
			String... args) {
		CompletableFuture<CompletableFuture<List<Object>>> request = this.lastSent.handle((sent, ex) -> connection())
			.thenCompose(Function.identity())
			.thenApply((connected) -> LettuceDriver.send(this.client, connected.async(), script, key, timeout, args));
		this.lastSent = request;
		return request.thenCompose(Function.identity()).orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
	}

	private synchronized CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection() {
		CompletableFuture<StatefulRedisConnection<byte[], byte[]>> current = this.connection;
		if (current == null || (current.isCompletedExceptionally() && this.nextAttempt.hasPassed())) {
			current = this.client.connectAsync(ByteArrayCodec.INSTANCE, this.address).toCompletableFuture();
			this.connection = current;
			this.nextAttempt = Deadline.after(Duration.ofSeconds(1));
		}
		return current;
	}

	@Override
	public Runnable listen(String channel, Runnable signal) {
		throw new UnsupportedOperationException("Waiters for a quorum poll");
	}

	@Override
	public String server() {
		return "Redis at " + this.address.getHost() + ":" + this.address.getPort();
	}

}
