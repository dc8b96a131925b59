package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;

/**
 * The attempts to get one lock, or several at once.
 */
final class RedisAcquisition implements AutoCloseable {

	private final RedisLocks locks;

	private final List<LockRequest> requests;

	/** When the lease ends that is in the way, or 0 if that is not known. */
	private long expiresInNanos;

	/** Whether Redis was not ready for the last attempt. */
	private boolean refused;

	/**
	 * Whether to wait in the queue, so that there may be a place in it: fair requests do,
	 * and whoever wants a lock alone that others share, who would go on to come
	 * otherwise.
	 */
	private boolean queued;

	private @Nullable Signal signal;

	RedisAcquisition(RedisLocks locks, List<LockRequest> requests) {
		this.locks = locks;
		this.requests = requests;
		this.queued = requests.get(0).fair();
	}

	/**
	 * Ask once. While Redis is not ready and there is time left, the locks count as not
	 * granted yet.
	 */
	@Nullable List<LockLease> attempt(Deadline deadline) throws InterruptedException {
		boolean last = deadline.hasPassed();
		this.refused = false;
		Deadline lease = Deadline.ofLease(this.requests.get(0).leaseTime());
		CompletableFuture<List<Object>> answer = ask();
		try {
			long timeout = RedisLocks.atLeastMinimum(deadline.remaining()).toNanos();
			return leases(answer.get(timeout, TimeUnit.NANOSECONDS), lease, last);
		}
		catch (InterruptedException ex) {
			abandon(answer, RedisLocks.MIN_TIMEOUT);
			throw ex;
		}
		catch (ExecutionException | TimeoutException ex) {
			boolean interrupted = Thread.interrupted();
			if (!last && !interrupted && RedisRefusal.isTemporary(ex)) {
				this.refused = true;
				return null;
			}
			abandon(answer, Duration.ZERO);
			if (interrupted) {
				throw (InterruptedException) new InterruptedException().initCause(ex);
			}
			throw Answers.failure(this.requests.get(0).key(), "acquired", this.locks.driver().server(), ex);
		}
	}

	private CompletableFuture<List<Object>> ask() {
		LockRequest first = this.requests.get(0);
		if (first.mode() == LockRequest.Mode.SHARED) {
			return this.locks.acquireShared(first);
		}
		return this.queued ? this.locks.acquireInTurn(first) : this.locks.acquire(this.requests);
	}

	private @Nullable List<LockLease> leases(List<Object> answer, Deadline deadline, boolean last) {
		boolean shared = this.requests.get(0).mode() == LockRequest.Mode.SHARED;
		if (RedisLocks.number(answer, 0) == 0) {
			this.expiresInNanos = TimeUnit.MILLISECONDS.toNanos(RedisLocks.number(answer, 1) + 1);
			this.queued |= !shared && !last && this.requests.size() == 1 && RedisLocks.isHeldShared(answer);
			return null;
		}
		if (this.queued && shared) {
			// The next in the queue may share it, too
			this.locks.tellQueue(this.requests.get(0));
		}
		this.queued = false;
		List<LockLease> leases = new ArrayList<>(this.requests.size());
		for (int i = 0; i < this.requests.size(); i++) {
			LockRequest request = this.requests.get(i);
			leases.add(new RedisLockLease(request, this.locks.grant(request), RedisLocks.number(answer, i), deadline));
		}
		return leases;
	}

	/**
	 * Take back what Redis may have granted although its answer was lost.
	 */
	private void abandon(CompletableFuture<List<Object>> answer, Duration timeout) {
		if (this.locks.driver().keepsOrder()) {
			answer.cancel(true);
		}
		else {
			await(answer, timeout);
		}
		if (answer.isDone()) {
			takeBack(timeout);
		}
		else {
			answer.whenComplete((late, ex) -> takeBack(Duration.ZERO));
		}
	}

	private void takeBack(Duration timeout) {
		Deadline end = Deadline.after(this.requests.get(0).leaseTime());
		CompletableFuture<?>[] releases = this.requests.stream()
			.map((request) -> this.locks.release(request, end))
			.toArray(CompletableFuture<?>[]::new);
		await(CompletableFuture.allOf(releases), timeout);
		if (this.queued) {
			this.queued = false;
			await(this.locks.leave(this.requests.get(0)), timeout);
		}
	}

	private static void await(CompletableFuture<?> answer, Duration timeout) {
		try {
			Answers.awaitUninterruptibly(answer, timeout);
		}
		catch (ExecutionException | TimeoutException ex) {
			// It is given back as soon as Redis can be reached, or runs out by itself
		}
	}

	/**
	 * Wait until the lock is released, but not beyond the end of its lease.
	 */
	void pause(long nanos) throws InterruptedException {
		if (this.refused) {
			TimeUnit.NANOSECONDS.sleep(nanos);
			return;
		}
		if (this.signal == null) {
			this.signal = this.locks.driver().listen(LockKey.of(this.requests.get(0).key()).channel());
		}
		long longest = Math.min(nanos, this.locks.driver().polling().longest().toNanos());
		this.signal.await((this.expiresInNanos > 0) ? Math.min(longest, this.expiresInNanos) : longest);
	}

	/**
	 * What Redis was not ready for may be one that it was sent again, because its first
	 * answer was lost.
	 */
	@Override
	public void close() {
		if (this.refused) {
			takeBack(Duration.ZERO);
		}
		if (this.queued) {
			await(this.locks.leave(this.requests.get(0)), RedisLocks.MIN_TIMEOUT);
		}
		if (this.signal != null) {
			this.signal.close();
		}
	}

}
