package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.netty.util.Timeout;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.store.redis.LockScript.LockKey;

/**
 * Lettuce, on the connection that all threads share.
 */
final class LettuceDriver implements RedisDriver {

	private final LettuceConnectionFactory factory;

	private final LettuceMessages messages;

	private volatile @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands;

	LettuceDriver(LettuceConnectionFactory factory) {
		if (!factory.getShareNativeConnection()) {
			throw new LockConfigurationException(
					"The lock backend 'redis' needs the shared connection of Lettuce, but 'shareNativeConnection' of "
							+ "the LettuceConnectionFactory is off.",
					"Remove 'setShareNativeConnection(false)'. Transactions and blocking commands get their own "
							+ "connections anyway.");
		}
		this.factory = factory;
		this.messages = new LettuceMessages(factory::getRequiredNativeClient);
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, LockKey key, Duration timeout, String... args) {
		return send(this.factory.getRequiredNativeClient(), commands(), script, key, timeout, args);
	}

	/**
	 * Send a script by its digest, and again by its text if Redis does not know it.
	 */
	static CompletableFuture<List<Object>> send(AbstractRedisClient client,
			RedisClusterAsyncCommands<byte[], byte[]> commands, LockScript script, LockKey key, Duration timeout,
			String... args) {
		byte[][] keys = bytes(key.names());
		byte[][] values = bytes(List.of(args));
		CompletionStage<List<Object>> sent = commands.evalsha(script.digest(), ScriptOutputType.MULTI, keys, values);
		CompletableFuture<List<Object>> answer = sent.exceptionallyCompose((ex) -> {
			boolean unknown = ex instanceof RedisNoScriptException || ex.getCause() instanceof RedisNoScriptException;
			return unknown ? commands.eval(script.lua(), ScriptOutputType.MULTI, keys, values)
					: CompletableFuture.failedFuture(ex);
		}).toCompletableFuture();
		Timeout timer = client.getResources()
			.timer()
			.newTimeout((expired) -> answer.completeExceptionally(new TimeoutException()), timeout.toNanos(),
					TimeUnit.NANOSECONDS);
		answer.whenComplete((value, ex) -> timer.cancel());
		return answer;
	}

	private static byte[][] bytes(List<String> texts) {
		byte[][] bytes = new byte[texts.size()][];
		Arrays.setAll(bytes, (index) -> texts.get(index).getBytes(StandardCharsets.UTF_8));
		return bytes;
	}

	/**
	 * The connection is kept because Spring Data creates several objects around it for
	 * each call. A closed or lost connection is requested again.
	 */
	@SuppressWarnings("unchecked")
	private RedisClusterAsyncCommands<byte[], byte[]> commands() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands;
		if (!(commands instanceof AbstractRedisAsyncCommands<?, ?> shared && shared.getConnection().isOpen())) {
			try (RedisConnection connection = this.factory.getConnection()) {
				commands = (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
			}
			this.commands = commands;
		}
		return commands;
	}

	@Override
	public Runnable listen(String channel, Runnable signal) {
		return this.messages.listen(channel, signal);
	}

	@Override
	public String server() {
		if (this.factory.isClusterAware()) {
			return "Redis Cluster";
		}
		return this.factory.isRedisSentinelAware() ? "Redis (by Sentinel)"
				: "Redis at " + this.factory.getHostName() + ":" + this.factory.getPort();
	}

}
