package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.support.Polling;

/**
 * Lettuce, on the connection that all threads share. Waiters are woken by messages.
 */
final class LettuceDriver implements RedisDriver {

	private static final Polling POLLING = new Polling(Duration.ofMillis(20), Duration.ofMillis(500));

	private final LettuceConnectionFactory factory;

	private final ReleaseMessages messages;

	LettuceDriver(RedisConnectionFactory factory) {
		this.factory = (LettuceConnectionFactory) factory;
		this.messages = new ReleaseMessages(this.factory::getRequiredNativeClient);
	}

	static boolean supports(RedisConnectionFactory factory) {
		return factory instanceof LettuceConnectionFactory lettuce && lettuce.getShareNativeConnection();
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args) {
		try (RedisConnection connection = this.factory.getConnection()) {
			LettuceCall call = new LettuceCall(script, keys, args);
			call.send(commands(connection));
			return call;
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private static RedisClusterAsyncCommands<byte[], byte[]> commands(RedisConnection connection) {
		return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
	}

	@Override
	public Signal listen(String channel) {
		return this.messages.listen(channel);
	}

	@Override
	public Polling polling() {
		return POLLING;
	}

	@Override
	public boolean isCluster() {
		return this.factory.isClusterAware();
	}

}
