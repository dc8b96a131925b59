package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling.Deadline;

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

	/** Whether Redis may hold the lock, or a place in the queue, for this acquisition. */
	private boolean remains;

	private CompletableFuture<List<Object>> answer = CompletableFuture.completedFuture(List.of());

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
		this.remains = true;
		this.answer = this.locks.acquire(this.request, this.inTurn, timeout);
		try {
			return lease(this.answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS), sentAt, last);
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
		this.remains = epoch == 0 && this.inTurn;
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
		if (this.remains) {
			RedisLocks.awaitQuietly(this.answer.handle((answer, ex) -> answer)
				.thenCompose((ended) -> this.locks.leave(this.request, Deadline.after(this.request.leaseTime()))));
		}
		if (this.listening != null) {
			this.listening.run();
		}
	}

}
