package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling.Deadline;
import io.github.holdfast.store.redis.LockScript.LockKey;

/**
 * The attempts of one call to acquire one lock.
 */
final class RedisAcquisition implements AutoCloseable {

	/** The longest time after which a waiter asks without a message. */
	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

	private final RedisLocks locks;

	private final LockRequest request;

	private final Semaphore signals = new Semaphore(0);

	/**
	 * Whether to wait in the queue. Fair requests do. Requests that wait for a shared
	 * lock do, because new sharers would keep it from ending.
	 */
	private boolean inTurn;

	/** The last answer, if Redis may hold the lock or a place in the queue after it. */
	private @Nullable CompletableFuture<List<Object>> answer;

	private long longestPause = LONGEST_PAUSE;

	private @Nullable Runnable listening;

	RedisAcquisition(RedisLocks locks, LockRequest request) {
		this.locks = locks;
		this.request = request;
		this.inTurn = request.fair();
	}

	/**
	 * Ask once. While Redis is not ready and there is time left, the lock counts as busy.
	 */
	LockBackend.@Nullable Lease attempt(Deadline deadline) throws InterruptedException {
		boolean last = deadline.hasPassed();
		Duration timeout = Collections.max(List.of(deadline.remaining(), RedisLocks.MIN_TIMEOUT));
		long sentAt = System.nanoTime();
		CompletableFuture<List<Object>> answer = this.locks.acquire(this.request, this.inTurn, timeout);
		this.answer = answer;
		try {
			return lease(answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS), sentAt, last);
		}
		catch (ExecutionException | TimeoutException | RuntimeException ex) {
			if (!last && RedisLocks.isTemporary(ex)) {
				return null;
			}
			throw RedisLocks.failure(this.request.key(), "acquired", this.locks.driver().server(), ex);
		}
	}

	private @Nullable RedisLease lease(List<Object> granted, long sentAt, boolean last) {
		long epoch = RedisLocks.number(granted, 0);
		this.answer = (epoch == 0 && this.inTurn) ? this.answer : null;
		if (epoch > 0) {
			return new RedisLease(epoch, sentAt,
					(leaseTime) -> yes(this.locks.renew(this.request, leaseTime, epoch), "renewed"),
					() -> yes(this.locks.release(this.request), "released"), new AtomicReference<>());
		}
		long rest = TimeUnit.MILLISECONDS.toNanos(RedisLocks.number(granted, 1) + 1);
		this.longestPause = (rest > 0 && rest < LONGEST_PAUSE) ? rest : LONGEST_PAUSE;
		this.inTurn |= RedisLocks.number(granted, 2) == 1 && this.request.mode() == LockMode.EXCLUSIVE;
		if (this.listening == null && !last) {
			String channel = LockKey.of(this.request.key()).channel();
			this.listening = this.locks.driver()
				.listen(this.request.fair() ? channel + ":" + this.request.owner().id() : channel,
						this.signals::release);
		}
		return null;
	}

	private CompletableFuture<Boolean> yes(CompletableFuture<List<Object>> answer, String what) {
		return RedisLocks.answer(answer.thenApply(RedisLocks::isYes), this.request.key(), what,
				() -> this.locks.driver().server());
	}

	/**
	 * Wait until the lock may be free.
	 */
	void pause(long nanos) throws InterruptedException {
		if (this.signals.tryAcquire(Math.min(nanos, this.longestPause), TimeUnit.NANOSECONDS)) {
			this.signals.drainPermits();
		}
	}

	/**
	 * Take back anything that Redis holds or may grant. An attempt without an answer must
	 * end first.
	 */
	@Override
	public void close() {
		if (this.answer != null) {
			RedisLocks.awaitQuietly(this.answer.handle((answer, ex) -> answer)
				.thenCompose((ended) -> this.locks.leave(this.request, Deadline.after(this.request.leaseTime()))));
		}
		if (this.listening != null) {
			this.listening.run();
		}
	}

	/**
	 * A lock in one Redis, exclusive or shared, or in a quorum.
	 *
	 * @param epoch the number of the grant
	 * @param sentAt the time from before the attempt that won
	 * @param renewing asks Redis for another lease time
	 * @param releasing asks Redis to free the lock
	 * @param sent the last release
	 */
	record RedisLease(long epoch, long sentAt, Function<Duration, CompletableFuture<Boolean>> renewing,
			Supplier<CompletableFuture<Boolean>> releasing,
			AtomicReference<@Nullable CompletableFuture<Boolean>> sent) implements LockBackend.Lease {

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return this.renewing.apply(leaseTime);
		}

		/**
		 * Redis recognizes the last owner of a free lock, so a release that is repeated
		 * because its answer was lost succeeds. After an answer, nothing more is sent.
		 */
		@Override
		public CompletionStage<Boolean> release() {
			synchronized (this.sent) {
				CompletableFuture<Boolean> before = this.sent.get();
				if (before != null && !before.isCompletedExceptionally()) {
					return before.thenApply((answer) -> false);
				}
				CompletableFuture<Boolean> answer = this.releasing.get();
				this.sent.set(answer);
				return answer;
			}
		}

	}

}
