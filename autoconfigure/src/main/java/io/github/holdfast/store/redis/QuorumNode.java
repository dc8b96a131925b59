package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;

/**
 * One connection to one node, which is opened at the first use and restored by Lettuce.
 * While there is none, requests fail at once.
 */
final class QuorumNode implements RedisDriver {

	private static final Polling POLLING = new Polling(Duration.ofMillis(10), Duration.ofMillis(200));

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final RedisClient client;

	private final RedisURI uri;

	private @Nullable CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection;

	private Deadline nextAttempt = Deadline.PASSED;

	QuorumNode(RedisClient client, RedisURI uri) {
		this.client = client;
		this.uri = uri;
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args, Deadline patience) {
		LettuceCall call = new LettuceCall(script, keys, args, patience);
		connection().whenComplete((connection, ex) -> {
			if (ex != null) {
				call.completeExceptionally(ex);
			}
			else {
				call.send(connection.async());
			}
		});
		return call;
	}

	CompletableFuture<String> info(String section) {
		return connection().thenCompose((connection) -> connection.async().info(section));
	}

	private synchronized CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection() {
		CompletableFuture<StatefulRedisConnection<byte[], byte[]>> current = this.connection;
		if (current == null || (current.isCompletedExceptionally() && this.nextAttempt.hasPassed())) {
			current = this.client.connectAsync(ByteArrayCodec.INSTANCE, this.uri).toCompletableFuture();
			this.connection = current;
			this.nextAttempt = Deadline.after(PAUSE_AFTER_FAILURE);
		}
		return current;
	}

	@Override
	public Signal listen(String channel) {
		return new Signal((signal) -> {
		});
	}

	@Override
	public Polling polling() {
		return POLLING;
	}

	/**
	 * Where the node is, without credentials.
	 */
	@Override
	public String toString() {
		return this.uri.getHost() + ":" + this.uri.getPort();
	}

}
