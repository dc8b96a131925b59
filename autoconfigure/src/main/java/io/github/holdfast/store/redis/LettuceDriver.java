package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;

/**
 * Lettuce, on the connection that all threads share. Waiters are woken by messages.
 */
final class LettuceDriver implements RedisDriver {

	private static final Polling POLLING = new Polling(Duration.ofMillis(20), Duration.ofMillis(500));

	/** Of a message, and of the attempt that follows it. */
	private static final Duration NOTICE_TIME = Duration.ofMillis(5);

	private final LettuceConnectionFactory factory;

	private final ReleaseMessages messages;

	private volatile @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands;

	LettuceDriver(LettuceConnectionFactory factory) {
		if (!factory.getShareNativeConnection()) {
			throw new LockConfigurationException(
					"The lock backend 'redis' shares one connection of Lettuce among all threads, but "
							+ "'shareNativeConnection' of the LettuceConnectionFactory is off.",
					"Leave it on, as Spring Boot does: transactions and commands that block take connections "
							+ "of their own all the same.");
		}
		this.factory = factory;
		this.messages = new ReleaseMessages(this.factory::getRequiredNativeClient);
	}

	@Override
	public String server() {
		if (this.factory.isClusterAware()) {
			return "Redis Cluster";
		}
		return this.factory.isRedisSentinelAware() ? "Redis (by Sentinel)"
				: "Redis at " + this.factory.getHostName() + ":" + this.factory.getPort();
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args, Deadline patience) {
		try {
			LettuceCall call = new LettuceCall(script, keys, args, patience);
			call.send(commands());
			return call;
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletionStage<Long> publish(String channel) {
		return commands().publish(LockKey.bytes(channel), LockKey.bytes("1"));
	}

	/**
	 * The connection is kept, as Spring Data makes many objects around it for each call.
	 * It is asked for again when it was closed or is lost.
	 */
	@SuppressWarnings("unchecked")
	private RedisClusterAsyncCommands<byte[], byte[]> commands() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands;
		if (commands == null || !isOpen(commands)) {
			try (RedisConnection connection = this.factory.getConnection()) {
				commands = (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
			}
			this.commands = commands;
		}
		return commands;
	}

	private static boolean isOpen(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		return commands instanceof AbstractRedisAsyncCommands<byte[], byte[]> shared && shared.getConnection().isOpen();
	}

	@Override
	public Signal listen(String channel) {
		return this.messages.listen(channel);
	}

	@Override
	public Polling polling() {
		return this.messages.haveFailed() ? POLLING_ONLY : POLLING;
	}

	/**
	 * Each server of a Cluster knows only its own listeners, and none if they may not
	 * listen. What this JVM can do counts for the others, too.
	 */
	@Override
	public boolean knowsListeners() {
		return !isCluster() && this.messages.arrive();
	}

	@Override
	public CompletionStage<Boolean> isListenedTo(String channel) {
		if (!knowsListeners()) {
			if (!isCluster()) {
				this.messages.tryOut(channel);
			}
			return RedisDriver.super.isListenedTo(channel);
		}
		return commands().pubsubNumsub(LockKey.bytes(channel))
			.thenApply((listeners) -> listeners.values().stream().anyMatch((number) -> number > 0));
	}

	@Override
	public Duration noticeTime() {
		return this.messages.haveFailed() ? polling().longest() : NOTICE_TIME;
	}

	@Override
	public int slot(String key) {
		return isCluster() ? ClusterSlotHashUtil.calculateSlot(key) : 0;
	}

	private boolean isCluster() {
		return this.factory.isClusterAware();
	}

}
