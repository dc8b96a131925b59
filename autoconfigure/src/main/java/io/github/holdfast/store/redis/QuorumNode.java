package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.Deadline;

/**
 * One connection to one node of a quorum. It is opened at the first use, and Lettuce
 * restores it. Without a connection, requests fail at once.
 */
final class QuorumNode implements RedisDriver {

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final RedisClient client;

	private final RedisURI address;

	private @Nullable CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection;

	private Deadline nextAttempt = Deadline.PASSED;

	QuorumNode(RedisClient client, RedisURI address) {
		this.client = client;
		this.address = address;
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, LockKey key, Duration timeout, String... args) {
		return connection()
			.thenCompose(
					(connection) -> LettuceDriver.send(this.client, connection.async(), script, key, timeout, args))
			.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
	}

	private synchronized CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection() {
		CompletableFuture<StatefulRedisConnection<byte[], byte[]>> current = this.connection;
		if (current == null || (current.isCompletedExceptionally() && this.nextAttempt.hasPassed())) {
			current = this.client.connectAsync(ByteArrayCodec.INSTANCE, this.address).toCompletableFuture();
			this.connection = current;
			this.nextAttempt = Deadline.after(PAUSE_AFTER_FAILURE);
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
