package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;

/**
 * One wait for a lock. When it is over, the lock is held or nothing is left of it.
 */
final class EtcdAcquisition implements AutoCloseable {

	/**
	 * How long etcd may fail while there is time to wait, as it does without a leader.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final EtcdLocks locks;

	private final LockRequest request;

	private final Entry entry;

	private final Departure departure;

	private long lease;

	private long createRevision;

	private @Nullable Deadline patience;

	EtcdAcquisition(EtcdLocks locks, LockRequest request) {
		this.locks = locks;
		this.request = request;
		this.entry = locks.entry(request);
		this.departure = new Departure(locks);
	}

	@Nullable LockLease attempt(Deadline deadline) throws InterruptedException {
		try {
			LockLease granted = isHopeless() ? null : stand();
			this.patience = null;
			return granted;
		}
		catch (ExecutionException | TimeoutException ex) {
			Deadline patience = (this.patience != null) ? this.patience : Deadline.after(PATIENCE);
			this.patience = patience;
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			if (deadline.hasPassed() || patience.hasPassed() || !EtcdAnswers.isTransient(ex)) {
				throw EtcdAnswers.failure(this.request.key(), "acquired", ex);
			}
			return null;
		}
	}

	/**
	 * A single attempt does not stand in the queue of others.
	 */
	private boolean isHopeless() throws InterruptedException, ExecutionException, TimeoutException {
		return this.request.waitTime().isZero() && EtcdAnswers.await(this.locks.isBusy(this.entry));
	}

	private @Nullable LockLease stand() throws InterruptedException, ExecutionException, TimeoutException {
		while (true) {
			Deadline end = Deadline.ofLease(this.request.leaseTime());
			Standing standing = look();
			this.createRevision = standing.createRevision();
			if (!standing.isCertain()) {
				continue;
			}
			if (standing.ahead() != null) {
				this.departure.expect(standing.ahead(), standing.revision());
				return null;
			}
			if (standing.epoch() >= this.request.minEpoch()) {
				return granted(standing, end);
			}
			EtcdAnswers.await(this.locks.raiseEpoch(standing, this.request.minEpoch()));
		}
	}

	private Standing look() throws InterruptedException, ExecutionException, TimeoutException {
		if (this.lease == 0) {
			this.lease = grant();
			return EtcdAnswers.await(this.locks.stand(this.entry, this.lease, this.createRevision));
		}
		try {
			// The lease must have been alive when the entry was seen
			return EtcdAnswers.await(this.locks.keepAlive(this.lease)
				.thenCombine(this.locks.stand(this.entry, this.lease, this.createRevision), (alive, it) -> it));
		}
		catch (ExecutionException ex) {
			if (!EtcdAnswers.isLeaseGone(ex)) {
				throw ex;
			}
			this.lease = 0;
			return look();
		}
	}

	private long grant() throws InterruptedException, ExecutionException, TimeoutException {
		CompletableFuture<Long> grant = this.locks.grant(this.request.leaseTime());
		try {
			return EtcdAnswers.await(grant);
		}
		catch (InterruptedException | TimeoutException ex) {
			grant.thenAccept(this.locks::revoke);
			throw ex;
		}
	}

	private LockLease granted(Standing standing, Deadline end) {
		LockLease granted = new EtcdLockLease(this.locks, this.request, this.entry, standing, this.lease, end);
		this.lease = 0;
		return granted;
	}

	/**
	 * Wait until the one ahead has gone.
	 */
	void pause(long nanos) throws InterruptedException {
		this.departure.await(nanos);
	}

	/**
	 * The entry goes with its lease, also if it has not arrived yet.
	 */
	@Override
	public void close() {
		this.departure.close();
		if (this.lease == 0) {
			return;
		}
		CompletableFuture<?> revoked = this.locks.abandon(this.request.key(), this.lease,
				Deadline.after(this.request.leaseTime()));
		try {
			Answers.awaitUninterruptibly(revoked, (this.patience != null) ? Duration.ZERO : EtcdAnswers.TIMEOUT);
		}
		catch (ExecutionException | TimeoutException ex) {
			// It is revoked as soon as etcd can be reached, or runs out by itself
		}
	}

}
