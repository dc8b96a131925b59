package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.RedisCommands;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.config.Config;
import org.redisson.config.DefaultCommandMapper;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;

/**
 * Redisson, through the executor of the application's client. Waiters are woken by
 * messages. Redisson asks again by itself while Redis is not ready, and asks the replicas
 * that it knows whether they have what was acquired, as its own locks do.
 */
final class RedissonDriver implements RedisDriver {

	private static final Polling POLLING = new Polling(Duration.ofMillis(20), Duration.ofMillis(500));

	/** Of a message, and of the attempt that follows it. */
	private static final Duration NOTICE_TIME = Duration.ofMillis(5);

	/** With batches that have no answer yet. */
	private static final Duration PATIENCE = Duration.ofMillis(100);

	/** What each call needs. */
	private static final Set<LockScript> OFTEN = EnumSet.of(LockScript.ACQUIRE, LockScript.RELEASE);

	private final CommandAsyncExecutor executor;

	private final RedissonMessages messages;

	private final boolean cluster;

	private final @Nullable RedissonBatches batches;

	RedissonDriver(RedissonClient client) {
		if (!(client instanceof Redisson redisson)) {
			throw new LockConfigurationException(
					"The lock backend 'redisson' needs Redisson's own client, but the RedissonClient bean is a "
							+ client.getClass().getName() + ".",
					"Let the bean be what Redisson.create returns, without a proxy around it.");
		}
		this.executor = redisson.getCommandExecutor();
		this.messages = new RedissonMessages(client);
		this.cluster = client.getConfig().isClusterConfig();
		this.batches = canBatch(client.getConfig()) ? new RedissonBatches(this.executor, PATIENCE) : null;
	}

	/**
	 * Not with replicas, which each acquisition asks, and only the scripts as they are.
	 */
	private boolean canBatch(Config config) {
		return config.isSingleConfig() && config.isUseScriptCache()
				&& this.executor.getServiceManager().getCommandMapper() instanceof DefaultCommandMapper;
	}

	/**
	 * A client that was shut down throws at once.
	 */
	@Override
	public CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args, Deadline patience) {
		try {
			Call call = new Call();
			List<Object> names = names(keys);
			RedissonBatches batches = this.batches;
			if (batches != null && OFTEN.contains(script)) {
				call.follow(batches.send(new RedissonCommand(script, names, args)),
						() -> call.follow(send(script, names, args)));
			}
			else {
				call.follow(send(script, names, args));
			}
			return call;
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * All keys are in one slot, so any of them leads to the server.
	 */
	private CompletionStage<List<Object>> send(LockScript script, List<Object> keys, byte[][] args) {
		String first = keys.get(0).toString();
		String lua = script.text(keys.size()).lua();
		return switch (script) {
			case ACQUIRE, ACQUIRE_IN_TURN, ACQUIRE_SHARED -> this.executor.syncedEvalNoRetry(first,
					ByteArrayCodec.INSTANCE, RedisCommands.EVAL_LIST, lua, keys, (Object[]) args);
			default -> this.executor.evalWriteAsync(first, ByteArrayCodec.INSTANCE, RedisCommands.EVAL_LIST, lua, keys,
					(Object[]) args);
		};
	}

	@Override
	public CompletionStage<Long> publish(String channel) {
		return this.messages.publish(channel);
	}

	private List<Object> names(byte[][] keys) {
		return Stream.of(keys).<Object>map((key) -> mapped(new String(key, StandardCharsets.UTF_8))).toList();
	}

	private String mapped(String key) {
		return this.executor.getServiceManager().getNameMapper().map(key);
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
		return !this.cluster && this.messages.arrive();
	}

	@Override
	public CompletionStage<Boolean> isListenedTo(String channel) {
		if (!knowsListeners()) {
			if (!this.cluster) {
				this.messages.tryOut(channel);
			}
			return RedisDriver.super.isListenedTo(channel);
		}
		return this.messages.listeners(channel).thenApply((listeners) -> listeners > 0);
	}

	@Override
	public Duration noticeTime() {
		return this.messages.haveFailed() ? polling().longest() : NOTICE_TIME;
	}

	@Override
	public int slot(String key) {
		return this.cluster ? this.executor.getConnectionManager().calcSlot(mapped(key)) : 0;
	}

	/**
	 * It sends through many connections.
	 */
	@Override
	public boolean keepsOrder() {
		return false;
	}

	@Override
	public String nameOf(String channel) {
		return this.messages.nameOf(channel);
	}

	/**
	 * A script on its way. Redisson sends it again, perhaps after a later one, until the
	 * caller gives it up.
	 */
	private static final class Call extends CompletableFuture<List<Object>> {

		private volatile @Nullable CompletableFuture<List<Object>> sent;

		private void follow(CompletionStage<List<Object>> sent) {
			follow(sent.toCompletableFuture(), null);
		}

		/**
		 * Wait for the answer to what was sent.
		 * @param loading sends the text of the script, if Redis does not know its digest
		 */
		private void follow(CompletableFuture<List<Object>> sent, @Nullable Runnable loading) {
			this.sent = sent;
			if (isCancelled()) {
				sent.cancel(true);
			}
			sent.whenComplete((answer, ex) -> {
				if (ex == null) {
					complete(answer);
				}
				else if (loading != null && ex instanceof RedisNoScriptException && !isDone()) {
					load(loading);
				}
				else {
					completeExceptionally((ex instanceof CancellationException) ? new RedisException(ex) : ex);
				}
			});
		}

		private void load(Runnable loading) {
			try {
				loading.run();
			}
			catch (RuntimeException ex) {
				completeExceptionally(ex);
			}
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			boolean cancelled = super.cancel(mayInterruptIfRunning);
			CompletableFuture<List<Object>> sent = this.sent;
			if (sent != null) {
				sent.cancel(mayInterruptIfRunning);
			}
			return cancelled;
		}

	}

}
