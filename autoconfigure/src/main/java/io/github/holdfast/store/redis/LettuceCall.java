package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.DaemonThreads;
import io.github.holdfast.store.Deadline;

/**
 * A script on its way: by its digest first, by its text if Redis does not know it, and
 * again while Redis is not ready for it.
 */
final class LettuceCall extends CompletableFuture<List<Object>> {

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

	private final LockScript.Text script;

	private final byte[][] keys;

	private final byte[][] args;

	private final Deadline patience;

	private long pause = FIRST_PAUSE;

	private @Nullable RedisFuture<List<Object>> sent;

	/**
	 * Create a call.
	 * @param patience until when to ask again if Redis is not ready
	 */
	LettuceCall(LockScript script, byte[][] keys, byte[][] args, Deadline patience) {
		this.script = script.text(keys.length);
		this.keys = keys;
		this.args = args;
		this.patience = patience;
	}

	/**
	 * Send the script, unless the caller has given up. A release whose time is over is
	 * not given up.
	 */
	synchronized void send(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		if (isCancelled()) {
			return;
		}
		this.sent = commands.evalsha(this.script.digest(), ScriptOutputType.MULTI, this.keys, this.args);
		this.sent.whenComplete((answer, ex) -> {
			if (ex instanceof RedisNoScriptException) {
				sendText(commands);
			}
			else {
				end(commands, answer, ex);
			}
		});
	}

	/**
	 * Not after the caller has given up: what it sent to take the lock back would be
	 * overtaken.
	 */
	private synchronized void sendText(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		if (isCancelled()) {
			return;
		}
		try {
			this.sent = commands.eval(this.script.bytes(), ScriptOutputType.MULTI, this.keys, this.args);
			this.sent.whenComplete((answer, ex) -> end(commands, answer, ex));
		}
		catch (RuntimeException ex) {
			completeExceptionally(ex);
		}
	}

	/**
	 * Lettuce cancels what is under way when the connection is closed.
	 */
	private void end(RedisClusterAsyncCommands<byte[], byte[]> commands, List<Object> answer,
			@Nullable Throwable failure) {
		if (failure == null) {
			complete(answer);
		}
		else if (!this.patience.hasPassed() && RedisRefusal.isTemporary(failure)) {
			sendAgainLater(commands);
		}
		else {
			completeExceptionally((failure instanceof CancellationException) ? new RedisException(failure) : failure);
		}
	}

	private void sendAgainLater(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		long delay = Math.min(this.pause, this.patience.remainingNanos());
		this.pause = Math.min(this.pause * 3 / 2, LONGEST_PAUSE);
		DaemonThreads.later(Duration.ofNanos(delay), () -> {
			try {
				send(commands);
			}
			catch (RuntimeException ex) {
				completeExceptionally(ex);
			}
		});
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
