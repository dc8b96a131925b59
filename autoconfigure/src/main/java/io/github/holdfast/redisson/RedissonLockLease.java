package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
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
		if (!this.locks.knowsListeners()) {
			if (this.released == null) {
				this.locks.tryOutListening(this.holder);
			}
			return super.othersWait();
		}
		CompletableFuture<Long> released = this.released;
		return (released != null) ? released.thenApply((told) -> told != 1)
				: this.locks.listeners(this.holder).thenApply((listeners) -> listeners > 0);
	}

	@Override
	protected boolean extend(Duration leaseTime) {
		return await(this.locks.renew(this.holder, leaseTime), Answers.deadline(leaseTime.dividedBy(3)));
	}

	/**
	 * Extend several leases.
	 */
	static List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime) {
		return extendAll(leases.stream().map(RedissonLockLease.class::cast).toList(), leaseTime, (pending) -> {
			List<CompletableFuture<Long>> answers = pending.stream()
				.map((lease) -> lease.locks.renew(lease.holder, leaseTime))
				.toList();
			Deadline deadline = Answers.deadline(leaseTime.dividedBy(3));
			return IntStream.range(0, answers.size())
				.<BooleanSupplier>mapToObj((i) -> () -> pending.get(i).await(answers.get(i), deadline))
				.toList();
		});
	}

	private boolean await(CompletableFuture<Long> answer, Deadline deadline) {
		try {
			return Answers.await(answer, deadline) == 1;
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
