package io.github.holdfast.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;

/**
 * A lock in Redis that carries this owner.
 */
final class RedisLockLease implements LockLease {

	private final RedisLocks locks;

	private final LockRequest request;

	private final long epoch;

	private final AtomicBoolean released = new AtomicBoolean();

	private volatile Deadline deadline;

	private volatile boolean ended;

	private volatile boolean lost;

	RedisLockLease(RedisLocks locks, LockRequest request, long epoch, Deadline deadline) {
		this.locks = locks;
		this.request = request;
		this.epoch = epoch;
		this.deadline = deadline;
	}

	@Override
	public String key() {
		return this.request.key();
	}

	@Override
	public String owner() {
		return this.request.owner();
	}

	@Override
	public long epoch() {
		return this.epoch;
	}

	@Override
	public Duration remaining() {
		return this.ended ? Duration.ZERO : this.deadline.remaining();
	}

	@Override
	public boolean isValid() {
		return !this.ended && !this.deadline.hasPassed();
	}

	@Override
	public boolean renew(Duration leaseTime) {
		if (this.ended) {
			return false;
		}
		Deadline renewed = Deadline.ofLease(leaseTime);
		if (renewed.remainingNanos() < this.deadline.remainingNanos()) {
			// Even if the answer is lost: Redis may have shortened the lease
			this.deadline = renewed;
		}
		if (!this.locks.renew(this.request, leaseTime)) {
			this.ended = true;
			this.lost = true;
			return false;
		}
		this.deadline = renewed;
		return !this.ended;
	}

	@Override
	public CompletionStage<Boolean> release() {
		this.ended = true;
		return (this.released.compareAndSet(false, true) && !this.lost) ? this.locks.release(this.request)
				: CompletableFuture.completedStage(false);
	}

}
