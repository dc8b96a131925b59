package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.ExpiringLease;

/**
 * A lock that was taken through Redisson.
 */
final class RedissonLockLease extends ExpiringLease {

	private final RedissonLocks locks;

	private final Holder holder;

	RedissonLockLease(RedissonLocks locks, Holder holder, long epoch, Deadline deadline) {
		super(holder.request(), epoch, deadline);
		this.locks = locks;
		this.holder = holder;
	}

	@Override
	public CompletionStage<Boolean> othersWait() {
		return this.locks.othersWait(this.holder);
	}

	@Override
	protected boolean extend(Duration leaseTime) {
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
	protected CompletionStage<Boolean> giveBack() {
		return this.locks.release(this.holder);
	}

}
