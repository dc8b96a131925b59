package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;

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
	protected boolean extend(Duration leaseTime) {
		try {
			return (EtcdLocks.seconds(leaseTime) == this.seconds) ? renewLease(leaseTime) : changeLease(leaseTime);
		}
		catch (ExecutionException | TimeoutException ex) {
			if (EtcdAnswers.isLeaseGone(ex)) {
				return false;
			}
			throw EtcdAnswers.failure(key(), "renewed", ex);
		}
	}

	/**
	 * Whatever has given the key another lease, it is one that nobody renews.
	 */
	private boolean renewLease(Duration leaseTime) throws ExecutionException, TimeoutException {
		List<KeyValue> found = answer(this.locks.renew(this.entry, this.lease), leaseTime);
		return EtcdLocks.createRevision(found) == this.createRevision
				&& (found.get(0).getLease() == this.lease || changeLease(leaseTime));
	}

	/**
	 * The time of a lease in etcd cannot be changed.
	 */
	private boolean changeLease(Duration leaseTime) throws ExecutionException, TimeoutException {
		CompletableFuture<Long> granted = this.locks.grant(leaseTime);
		long newLease;
		try {
			newLease = answer(granted, leaseTime);
		}
		catch (TimeoutException ex) {
			granted.thenAccept(this.locks::revoke);
			throw ex;
		}
		this.seconds = 0;
		if (!moveTo(newLease, leaseTime)) {
			this.locks.revoke(newLease);
			return false;
		}
		this.locks.revoke(this.lease);
		this.lease = newLease;
		this.seconds = EtcdLocks.seconds(leaseTime);
		return true;
	}

	/**
	 * Earlier requests without an answer may have come first, each of them once.
	 */
	private boolean moveTo(long newLease, Duration leaseTime) throws ExecutionException, TimeoutException {
		while (true) {
			TxnResponse answer = answer(this.locks.changeLease(this.entry, this.modRevision, newLease), leaseTime);
			if (answer.isSucceeded()) {
				this.modRevision = answer.getHeader().getRevision();
				return true;
			}
			List<KeyValue> found = answer.getGetResponses().get(0).getKvs();
			if (EtcdLocks.createRevision(found) != this.createRevision) {
				return false;
			}
			this.modRevision = found.get(0).getModRevision();
			if (found.get(0).getLease() == newLease) {
				return true;
			}
		}
	}

	private static <T> T answer(CompletableFuture<T> answer, Duration leaseTime)
			throws ExecutionException, TimeoutException {
		Duration third = leaseTime.dividedBy(3);
		return Answers.awaitUninterruptibly(answer,
				(third.compareTo(EtcdAnswers.TIMEOUT) > 0) ? third : EtcdAnswers.TIMEOUT);
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
