package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

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
			Call call = new Call(commands(connection), script, keys, args);
			call.sendDigest();
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

	/**
	 * A script on its way: by its digest first, by its text if Redis does not know it.
	 */
	private static final class Call extends CompletableFuture<List<Object>> {

		private final RedisClusterAsyncCommands<byte[], byte[]> commands;

		private final LockScript script;

		private final byte[][] keys;

		private final byte[][] args;

		private @Nullable RedisFuture<List<Object>> sent;

		private Call(RedisClusterAsyncCommands<byte[], byte[]> commands, LockScript script, byte[][] keys,
				byte[][] args) {
			this.commands = commands;
			this.script = script;
			this.keys = keys;
			this.args = args;
		}

		private synchronized void sendDigest() {
			this.sent = this.commands.evalsha(this.script.digest(), ScriptOutputType.MULTI, this.keys, this.args);
			this.sent.whenComplete((answer, ex) -> {
				if (ex instanceof RedisNoScriptException) {
					sendText();
				}
				else {
					end(answer, ex);
				}
			});
		}

		/**
		 * Not after the caller has given up: what it sent to take the lock back would be
		 * overtaken.
		 */
		private synchronized void sendText() {
			if (isDone()) {
				return;
			}
			try {
				this.sent = this.commands.eval(this.script.text(), ScriptOutputType.MULTI, this.keys, this.args);
				this.sent.whenComplete(this::end);
			}
			catch (RuntimeException ex) {
				completeExceptionally(ex);
			}
		}

		/**
		 * Lettuce cancels what is under way when the connection is closed.
		 */
		private void end(List<Object> answer, @Nullable Throwable failure) {
			if (failure != null) {
				completeExceptionally(
						(failure instanceof CancellationException) ? new RedisException(failure) : failure);
			}
			else {
				complete(answer);
			}
		}

		@Override
		public synchronized boolean cancel(boolean mayInterruptIfRunning) {
			boolean cancelled = super.cancel(mayInterruptIfRunning);
			if (this.sent != null) {
				this.sent.cancel(mayInterruptIfRunning);
			}
			return cancelled;
		}

	}

}
