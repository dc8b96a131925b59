package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.ExpiringLease;

/**
 * A lock in Redis that carries this owner.
 */
final class RedisLockLease extends ExpiringLease {

	private final Grant grant;

	RedisLockLease(LockRequest request, Grant grant, long epoch, Deadline deadline) {
		super(request, epoch, deadline);
		this.grant = grant;
	}

	Grant grant() {
		return this.grant;
	}

	LockRequest asked() {
		return request();
	}

	/**
	 * Extend several leases.
	 * @param start asks for those that have not ended, and does not wait for the answers
	 */
	static List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime,
			Function<List<RedisLockLease>, List<Grant.Renewal>> start) {
		return extendAll(leases.stream().map(RedisLockLease.class::cast).toList(), leaseTime, (pending) -> {
			List<Grant.Renewal> renewals = start.apply(pending);
			Deadline deadline = Deadline.after(Grant.timeout(leaseTime));
			return renewals.stream()
				.<BooleanSupplier>map((renewal) -> () -> renewal.await(deadline.remaining()))
				.toList();
		});
	}

	@Override
	public CompletionStage<Boolean> othersWait() {
		return this.grant.othersWait();
	}

	@Override
	protected boolean extend(Duration leaseTime) {
		return this.grant.renew(leaseTime);
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		return this.grant.release(end());
	}

}
