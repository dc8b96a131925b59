package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;

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
	 * Whether to wait in the queue: fair requests do, and those that wait for a shared
	 * lock because new sharers would keep it from ending.
	 */
	private boolean inTurn;

	/** Whether Redis may have something of this acquisition when it ends. */
	private boolean remains;

	private boolean refused;

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
		Duration timeout = deadline.remaining();
		if (timeout.compareTo(RedisLocks.MIN_TIMEOUT) < 0) {
			timeout = RedisLocks.MIN_TIMEOUT;
		}
		this.refused = false;
		this.remains |= this.inTurn && !last;
		long sentAt = System.nanoTime();
		CompletableFuture<List<Object>> answer = this.locks.acquire(this.request, this.inTurn, !last, timeout);
		try {
			return lease(answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS), sentAt, last);
		}
		catch (InterruptedException ex) {
			RedisLocks.awaitQuietly(abandon(answer));
			throw ex;
		}
		catch (ExecutionException | TimeoutException ex) {
			if (!last && RedisLocks.isTemporary(ex)) {
				this.refused = true;
				this.remains = true;
				return null;
			}
			abandon(answer);
			throw RedisLocks.failure(this.request.key(), "acquired", this.locks.driver().server(), ex);
		}
	}

	private @Nullable RedisLease lease(List<Object> answer, long sentAt, boolean last) {
		long epoch = RedisLocks.number(answer, 0);
		if (epoch > 0) {
			this.remains = false;
			return new RedisLease(epoch, sentAt,
					(leaseTime) -> answer(this.locks.renew(this.request, leaseTime), "renewed"),
					() -> answer(this.locks.release(this.request), "released"), new AtomicBoolean());
		}
		long rest = TimeUnit.MILLISECONDS.toNanos(RedisLocks.number(answer, 1) + 1);
		this.longestPause = (rest > 0 && rest < LONGEST_PAUSE) ? rest : LONGEST_PAUSE;
		boolean shared = RedisLocks.number(answer, 2) == 1;
		this.inTurn |= shared && this.request.mode() == LockMode.EXCLUSIVE;
		return null;
	}

	/**
	 * Wait until the lock may be free.
	 */
	void pause(long nanos) throws InterruptedException {
		if (this.listening == null && !this.refused) {
			LockKey key = LockKey.of(this.request.key());
			String channel = this.request.fair() ? key.channelOf(this.request.owner()) : key.channel();
			this.listening = this.locks.driver().listen(channel, this.signals::release);
		}
		if (this.signals.tryAcquire(Math.min(nanos, this.longestPause), TimeUnit.NANOSECONDS)) {
			this.signals.drainPermits();
		}
	}

	private CompletableFuture<Boolean> answer(CompletableFuture<List<Object>> answer, String what) {
		return RedisLocks.answer(answer.thenApply(RedisLocks::isYes), this.request.key(), what,
				() -> this.locks.driver().server());
	}

	/**
	 * Take back what Redis may grant although the caller does not wait for the answer.
	 * First the answer must come or fail, so that the lock is not granted afterwards.
	 */
	private CompletableFuture<List<Object>> abandon(CompletableFuture<List<Object>> answer) {
		this.remains = false;
		return answer.handle((late, ex) -> late).thenCompose((late) -> leave());
	}

	private CompletableFuture<List<Object>> leave() {
		return this.locks.leave(this.request, Deadline.after(this.request.leaseTime()));
	}

	@Override
	public void close() {
		if (this.remains) {
			RedisLocks.awaitQuietly(leave());
		}
		if (this.listening != null) {
			this.listening.run();
		}
	}

}
