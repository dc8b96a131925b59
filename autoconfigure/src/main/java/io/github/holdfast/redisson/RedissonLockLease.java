package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.holdfast.LockLease;
import io.github.holdfast.support.Deadline;

/**
 * A lock that was taken through Redisson.
 */
final class RedissonLockLease implements LockLease {

	private final RedissonLocks locks;

	private final Holder holder;

	private final long epoch;

	private final AtomicBoolean released = new AtomicBoolean();

	private volatile Deadline deadline;

	private volatile boolean ended;

	private volatile boolean lost;

	RedissonLockLease(RedissonLocks locks, Holder holder, long epoch, Deadline deadline) {
		this.locks = locks;
		this.holder = holder;
		this.epoch = epoch;
		this.deadline = deadline;
	}

	@Override
	public String key() {
		return this.holder.request().key();
	}

	@Override
	public String owner() {
		return this.holder.request().owner();
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
		if (!isRenewed(leaseTime)) {
			this.ended = true;
			this.lost = true;
			return false;
		}
		this.deadline = renewed;
		return !this.ended;
	}

	private boolean isRenewed(Duration leaseTime) {
		CompletableFuture<Long> answer = this.locks.renew(this.holder, leaseTime);
		try {
			return Answers.await(answer, leaseTime.dividedBy(3)) == 1;
		}
		catch (ExecutionException | TimeoutException ex) {
			// Redisson would send it again, perhaps after a later renewal
			answer.cancel(true);
			throw Answers.failure(key(), "renewed", ex);
		}
	}

	@Override
	public CompletionStage<Boolean> release() {
		this.ended = true;
		return (this.released.compareAndSet(false, true) && !this.lost) ? this.locks.release(this.holder)
				: CompletableFuture.completedStage(false);
	}

}
