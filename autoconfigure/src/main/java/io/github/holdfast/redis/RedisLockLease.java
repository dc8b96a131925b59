package io.github.holdfast.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.ExpiringLease;

/**
 * A lock in Redis that carries this owner.
 */
final class RedisLockLease extends ExpiringLease {

	private final RedisLocks locks;

	RedisLockLease(RedisLocks locks, LockRequest request, long epoch, Deadline deadline) {
		super(request, epoch, deadline);
		this.locks = locks;
	}

	@Override
	protected boolean extend(Duration leaseTime) {
		return this.locks.renew(request(), leaseTime);
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		return this.locks.release(request());
	}

}
