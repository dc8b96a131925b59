package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.etcd.jetcd.KeyValue;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.ExpiringLease;

/**
 * A lock in etcd: the key of this owner, created at the revision at which it was granted.
 */
final class EtcdLockLease extends ExpiringLease {

	private final EtcdLocks locks;

	private final Entry entry;

	private final long createRevision;

	private volatile long lease;

	/** When the key was last changed, as far as it is known. */
	private long modRevision;

	/** The time of the lease, or 0 if it is not known which one the key has. */
	private long seconds;

	EtcdLockLease(EtcdLocks locks, LockRequest request, Entry entry, Standing standing, long lease, Deadline deadline) {
		super(request, standing.epoch(), deadline);
		this.locks = locks;
		this.entry = entry;
		this.createRevision = standing.createRevision();
		this.modRevision = standing.createRevision();
		this.lease = lease;
		this.seconds = EtcdLocks.seconds(request.leaseTime());
	}

	@Override
	protected CompletionStage<Boolean> extend(Duration leaseTime) {
		return ((EtcdLocks.seconds(leaseTime) == this.seconds) ? renewLease(leaseTime) : changeLease(leaseTime))
			.exceptionally((ex) -> {
				if (EtcdAnswers.isLeaseGone(ex)) {
					return false;
				}
				throw EtcdAnswers.failure(key(), "renewed", ex);
			});
	}

	/**
	 * Whatever has given the key another lease, it is one that nobody renews.
	 */
	private CompletableFuture<Boolean> renewLease(Duration leaseTime) {
		return inTime(this.locks.renew(this.entry, this.lease), leaseTime).thenCompose((found) -> {
			boolean ours = EtcdLocks.createRevision(found) == this.createRevision;
			return (!ours || found.get(0).getLease() == this.lease) ? CompletableFuture.completedFuture(ours)
					: changeLease(leaseTime);
		});
	}

	/**
	 * The time of a lease in etcd cannot be changed.
	 */
	private CompletableFuture<Boolean> changeLease(Duration leaseTime) {
		CompletableFuture<Long> granted = this.locks.grant(leaseTime);
		return inTime(granted.copy(), leaseTime).whenComplete((newLease, failure) -> {
			if (failure != null) {
				granted.thenAccept(this.locks::revoke);
			}
		}).thenCompose((newLease) -> {
			this.seconds = 0;
			return moveTo(newLease, leaseTime).thenApply((moved) -> {
				this.locks.revoke(moved ? this.lease : newLease);
				if (moved) {
					this.lease = newLease;
					this.seconds = EtcdLocks.seconds(leaseTime);
				}
				return moved;
			});
		});
	}

	/**
	 * Earlier requests without an answer may have come first, each of them once.
	 */
	private CompletableFuture<Boolean> moveTo(long newLease, Duration leaseTime) {
		return inTime(this.locks.changeLease(this.entry, this.modRevision, newLease), leaseTime)
			.thenCompose((answer) -> {
				if (answer.isSucceeded()) {
					this.modRevision = answer.getHeader().getRevision();
					return CompletableFuture.completedFuture(true);
				}
				List<KeyValue> found = answer.getGetResponses().get(0).getKvs();
				boolean ours = EtcdLocks.createRevision(found) == this.createRevision;
				if (ours) {
					this.modRevision = found.get(0).getModRevision();
				}
				return (!ours || found.get(0).getLease() == newLease) ? CompletableFuture.completedFuture(ours)
						: moveTo(newLease, leaseTime);
			});
	}

	private static <T> CompletableFuture<T> inTime(CompletableFuture<T> answer, Duration leaseTime) {
		return Answers.inTime(answer, Answers.renewalTimeout(leaseTime, EtcdAnswers.TIMEOUT));
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		return this.locks.release(key(), this.entry, this.createRevision, this.lease, end()).handle((released, ex) -> {
			if (ex != null) {
				throw EtcdAnswers.failure(key(), "released", ex);
			}
			return released;
		});
	}

}
