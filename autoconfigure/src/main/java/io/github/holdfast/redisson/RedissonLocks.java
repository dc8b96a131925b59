package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.redisson.api.RScript;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

import org.springframework.util.Assert;

import io.github.holdfast.LockRequest;
import io.github.holdfast.support.AnswerTimeout;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.Polling;
import io.github.holdfast.support.RedisLeaseTime;
import io.github.holdfast.support.Releases;

/**
 * What can be asked of Redis about locks. Nothing here waits for the answer.
 */
final class RedissonLocks implements AutoCloseable {

	/** For how long a fair waiter that is no longer heard of keeps its place. */
	static final Duration TICKET_TIME = Duration.ofSeconds(5);

	private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(5);

	/** Above, the numbers of Lua are not exact. */
	private static final long MAX_EPOCH = 1L << 53;

	private static final Polling POLLING = new Polling(Duration.ofMillis(20), Duration.ofMillis(500));

	private static final Polling WITHOUT_MESSAGES = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	/** Of a message, and of the attempt that follows it. */
	private static final Duration NOTICE_TIME = Duration.ofMillis(5);

	private final Supplier<RedissonClient> client;

	private final Duration counterRetention;

	private final AnswerTimeout timeout = new AnswerTimeout(RELEASE_TIMEOUT);

	private final Releases releases = new Releases();

	private final Subscriptions subscriptions = new Subscriptions();

	RedissonLocks(Supplier<RedissonClient> client, Duration counterRetention) {
		this.client = client;
		this.counterRetention = counterRetention;
	}

	Holder holder(LockRequest request) {
		Assert.isTrue(request.minEpoch() < MAX_EPOCH, "Minimum epoch must be less than 2^53");
		return Holder.of(request, this.client.get().getId());
	}

	/**
	 * Tries once to take a lock. The lease is given, so Redisson does not renew it.
	 */
	CompletableFuture<Boolean> tryLock(Holder holder) {
		return send((client) -> client.getLock(holder.names().lock())
			.tryLockAsync(0, RedisLeaseTime.millis(holder.request().leaseTime()), TimeUnit.MILLISECONDS, holder.id()));
	}

	CompletableFuture<Long> start(Holder holder) {
		LockRequest request = holder.request();
		LockNames names = holder.names();
		return number(LockScript.START, request.fair() ? names.keysOfQueue() : names.keys(), holder.field(),
				text(request.leaseTime()), text(request.leaseTime().plus(this.counterRetention)),
				Long.toString(request.minEpoch()), request.holder());
	}

	CompletableFuture<Long> renew(Holder holder, Duration leaseTime) {
		return number(LockScript.RENEW, holder.names().keys(), holder.field(), text(leaseTime),
				text(leaseTime.plus(this.counterRetention)));
	}

	/**
	 * Give a lock back, again and again if Redis fails.
	 * @param end when the lock has run out at the latest
	 * @return 0 if it was lost, else one more than the number of those who were told
	 */
	CompletableFuture<Long> release(Holder holder, Deadline end) {
		return this.releases.run(holder.request().key(), end, () -> release(holder));
	}

	/**
	 * Give back what nobody waits for any more.
	 */
	void abandon(Holder holder) {
		release(holder, Deadline.after(holder.request().leaseTime()));
	}

	CompletableFuture<Long> release(Holder holder) {
		CompletableFuture<Long> released = new CompletableFuture<>();
		this.timeout.limit(number(LockScript.RELEASE, holder.names().keys(), holder.field(), channel(holder.names())))
			.whenComplete((answer, ex) -> {
				if (ex != null) {
					released.completeExceptionally(Answers.failure(holder.request().key(), "released", ex));
				}
				else {
					released.complete(answer);
				}
			});
		return released;
	}

	CompletableFuture<Long> queue(Holder holder) {
		return number(LockScript.QUEUE, holder.names().keysOfQueue(), holder.field(), text(TICKET_TIME));
	}

	CompletableFuture<Long> leave(Holder holder) {
		return number(LockScript.LEAVE, holder.names().keysOfQueue(), holder.field(), channel(holder.names()));
	}

	/**
	 * Asks for the remaining milliseconds and the holder.
	 */
	CompletableFuture<List<Object>> holder(String key) {
		return send((client) -> script(client).evalAsync(RScript.Mode.READ_WRITE, LockScript.HOLDER.text(),
				RScript.ReturnType.LIST, LockNames.of(key).keys()));
	}

	/**
	 * The number of those who wait for a message of the release.
	 */
	CompletableFuture<Long> listeners(Holder holder) {
		return send((client) -> topic(holder.names().channel()).countSubscribersAsync());
	}

	private boolean isCluster() {
		return this.client.get().getConfig().isClusterConfig();
	}

	/**
	 * Whether Redis knows all who wait for a lock. Each server of a Cluster knows only
	 * its own listeners, and none if they may not listen. What this JVM can do counts for
	 * the others, too.
	 */
	boolean knowsListeners() {
		return !isCluster() && this.subscriptions.work();
	}

	/**
	 * Find out whether there can be listeners, with a channel that nobody is told
	 * anything on and that whoever may use the lock's may use as well.
	 */
	void tryOutListening(Holder holder) {
		if (!isCluster() && this.subscriptions.isTrialDue()) {
			listen(holder.names().channel() + ":trial").close();
		}
	}

	ReleaseSignal listen(Holder holder) {
		return listen(holder.names().channel());
	}

	private ReleaseSignal listen(String channel) {
		ReleaseSignal signal = new ReleaseSignal(topic(channel), this.subscriptions);
		signal.listen();
		return signal;
	}

	/**
	 * How often waiters ask although there was no message.
	 */
	Polling polling() {
		return this.subscriptions.haveFailed() ? WITHOUT_MESSAGES : POLLING;
	}

	/**
	 * How long a waiter may take to notice a release.
	 */
	Duration noticeTime() {
		return this.subscriptions.haveFailed() ? WITHOUT_MESSAGES.longest() : NOTICE_TIME;
	}

	private CompletableFuture<Long> number(LockScript script, List<Object> keys, Object... args) {
		return send((client) -> script(client).evalAsync(RScript.Mode.READ_WRITE, script.text(),
				RScript.ReturnType.LONG, keys, args));
	}

	private static RScript script(RedissonClient client) {
		return client.getScript(StringCodec.INSTANCE);
	}

	/**
	 * The name of the channel in Redis, which scripts are not given by themselves.
	 */
	private String channel(LockNames names) {
		return topic(names.channel()).getChannelNames().get(0);
	}

	private RTopic topic(String channel) {
		return this.client.get().getTopic(channel, StringCodec.INSTANCE);
	}

	/**
	 * A client that was shut down throws at once.
	 */
	private <T> CompletableFuture<T> send(Command<T> command) {
		try {
			return command.send(this.client.get()).toCompletableFuture();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Stop what is still tried again because Redis has failed.
	 */
	@Override
	public void close() {
		this.releases.close();
	}

	private static String text(Duration duration) {
		return Long.toString(RedisLeaseTime.millis(duration));
	}

	/**
	 * Sends a command.
	 *
	 * @param <T> the type of its answer
	 */
	@FunctionalInterface
	private interface Command<T> {

		CompletionStage<T> send(RedissonClient client);

	}

}
