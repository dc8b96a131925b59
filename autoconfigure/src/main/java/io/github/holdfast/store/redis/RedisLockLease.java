package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.ExpiringLease;

/**
 * A lock in Redis that carries this owner.
 */
final class RedisLockLease extends ExpiringLease {

	private final Grant grant;

	RedisLockLease(LockRequest request, Grant grant, long epoch, Deadline deadline) {
		super(request, epoch, deadline);
		this.grant = grant;
	}

	@Override
	public CompletionStage<Boolean> othersWait() {
		return this.grant.othersWait();
	}

	@Override
	protected CompletionStage<Boolean> extend(Duration leaseTime) {
		return this.grant.renew(leaseTime);
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		return this.grant.release(end());
	}

}
