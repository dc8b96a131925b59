package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.ExpiringLease;

/**
 * A lock that was taken through Redisson.
 */
final class RedissonLockLease extends ExpiringLease {

	private final RedissonLocks locks;

	private final Holder holder;

	private volatile @Nullable CompletableFuture<Long> released;

	RedissonLockLease(RedissonLocks locks, Holder holder, long epoch, Deadline deadline) {
		super(holder.request(), epoch, deadline);
		this.locks = locks;
		this.holder = holder;
	}

	@Override
	public CompletionStage<Boolean> othersWait() {
		if (this.locks.isCluster()) {
			return super.othersWait();
		}
		CompletableFuture<Long> released = this.released;
		return (released != null) ? released.thenApply((told) -> told != 1)
				: this.locks.listeners(this.holder).thenApply((listeners) -> listeners > 0);
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
		CompletableFuture<Long> released = this.locks.release(this.holder, end());
		this.released = released;
		return released.thenApply((answer) -> answer > 0);
	}

}
