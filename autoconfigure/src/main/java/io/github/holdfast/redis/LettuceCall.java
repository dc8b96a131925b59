package io.github.holdfast.redis;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * A script on its way: by its digest first, by its text if Redis does not know it.
 */
final class LettuceCall extends CompletableFuture<List<Object>> {

	private final LockScript script;

	private final byte[][] keys;

	private final byte[][] args;

	private @Nullable RedisFuture<List<Object>> sent;

	LettuceCall(LockScript script, byte[][] keys, byte[][] args) {
		this.script = script;
		this.keys = keys;
		this.args = args;
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
				end(answer, ex);
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
			this.sent = commands.eval(this.script.text(), ScriptOutputType.MULTI, this.keys, this.args);
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
			completeExceptionally((failure instanceof CancellationException) ? new RedisException(failure) : failure);
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
