package io.github.holdfast.handover;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.KeyedPermits;

/**
 * One lease of the store and the threads of this JVM that have it one after the other.
 * Whoever has the permit of the key has the lease; a cohort goes along with the permit.
 *
 * <p>
 * After Dice, Marathe and Shavit, "Lock Cohorting" (ACM TOPC 1(2), 2015).
 */
final class Cohort {

	private static final Logger logger = LoggerFactory.getLogger(HandoverLockBackend.class);

	/** Of the time that a JVM had a lock, what it leaves to others at least. */
	private static final int REST = 8;

	/** How long another JVM takes at least to ask for a lock. */
	private static final Duration SHORTEST_REST = Duration.ofNanos(500_000);

	private final LockLease lease;

	private final HandoverLimits limits;

	private final Duration noticeTime;

	private final long start = System.nanoTime();

	/** An answer that comes late must not replace the time of a later request. */
	private final Lock renewing = new ReentrantLock();

	/** A renewal that has no answer, or a bad one. */
	private volatile boolean doubtful;

	/** Nobody else waited when the store was asked last. */
	private volatile boolean alone;

	private volatile int turn = -1;

	private volatile int bound;

	private volatile @Nullable Deadline rest;

	private volatile boolean ended;

	Cohort(LockLease lease, HandoverLimits limits, Duration noticeTime) {
		this.lease = lease;
		this.limits = limits;
		this.noticeTime = noticeTime;
		this.bound = limits.maxTurns();
	}

	/**
	 * The lease for the one who asked the store for it.
	 */
	LockLease first(KeyedPermits<Cohort>.Permit permit, LockRequest request) {
		return nextTurn(permit, request);
	}

	/**
	 * The lease for one who got the permit from another thread.
	 * @return the lease, or {@code null} if there is none any more
	 */
	@Nullable LockLease next(KeyedPermits<Cohort>.Permit permit, LockRequest request) {
		if (this.ended) {
			return null;
		}
		if (this.limits.names().test(request.name()) && request.minEpoch() <= this.lease.epoch()
				&& lasts(request.leaseTime())) {
			return nextTurn(permit, request);
		}
		giveUp();
		return null;
	}

	/**
	 * Each holder begins with at least as much time as a renewal would leave it, and with
	 * no more than it has asked for.
	 */
	private boolean lasts(Duration leaseTime) {
		Duration remaining = this.lease.remaining();
		if (remaining == null) {
			return this.lease.isValid();
		}
		if (remaining.compareTo(leaseTime) <= 0 && remaining.compareTo(leaseTime.multipliedBy(2).dividedBy(3)) >= 0) {
			return true;
		}
		try {
			return renew(leaseTime, () -> false);
		}
		catch (LockBackendException ex) {
			logger.debug("Lock '{}' is not passed on, as it could not be renewed", this.lease.key(), ex);
			return false;
		}
	}

	private LockLease nextTurn(KeyedPermits<Cohort>.Permit permit, LockRequest request) {
		int turn = this.turn + 1;
		this.turn = turn;
		permit.expireAfter(this::nextLook);
		if (this.bound > 1 && turn == this.bound - 1 - this.limits.maxTurns() / 2) {
			lookForOthers();
		}
		return new TurnLease(this, permit, turn, request.name());
	}

	private void lookForOthers() {
		this.alone = false;
		try {
			this.lease.othersWait().thenAccept((others) -> this.alone = !others);
		}
		catch (RuntimeException ex) {
			logger.debug("Lock '{}': the store does not tell whether others wait", this.lease.key(), ex);
		}
	}

	/**
	 * After which time a waiter looks whether the holder has lost the lock.
	 */
	private Duration nextLook() {
		Duration remaining = this.lease.remaining();
		if (remaining != null) {
			return remaining;
		}
		return this.lease.isValid() ? Duration.ofSeconds(1) : Duration.ZERO;
	}

	/**
	 * Pass the lease on to the next thread that waits, if that is allowed.
	 */
	boolean pass(KeyedPermits<Cohort>.Permit permit, String name) {
		return !this.ended && !this.doubtful && this.limits.names().test(name) && hasTurns() && this.lease.isValid()
				&& permit.pass(this);
	}

	private boolean hasTurns() {
		if (held().compareTo(this.limits.maxTime()) >= 0) {
			return false;
		}
		if (this.turn + 1 == this.bound && this.alone) {
			this.alone = false;
			this.bound = Math.min(this.bound + this.limits.maxTurns(), HandoverLimits.MOST_TURNS);
		}
		return this.turn + 1 < this.bound;
	}

	private Duration held() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	/**
	 * Give the lease back to the store, and the permit to the next thread when the store
	 * has answered.
	 */
	CompletionStage<Boolean> release(KeyedPermits<Cohort>.Permit permit) {
		permit.expireNever();
		try {
			return end().whenComplete((released, failure) -> permit.releaseWith(this));
		}
		catch (RuntimeException | Error ex) {
			permit.releaseWith(this);
			throw ex;
		}
	}

	/**
	 * Pass on a lease that the thread with the permit does not want.
	 */
	void decline(KeyedPermits<Cohort>.Permit permit) {
		if (!this.ended && permit.pass(this)) {
			return;
		}
		if (!this.ended) {
			giveUp();
		}
		permit.releaseWith(this);
	}

	private void giveUp() {
		try {
			end().toCompletableFuture().join();
		}
		catch (CompletionException | LockBackendException ex) {
			logger.debug("Lock '{}' could not be released, it runs out by itself", this.lease.key(), ex);
		}
	}

	private CompletionStage<Boolean> end() {
		this.ended = true;
		Duration held = held();
		if (!hasTurns() && this.turn > 0 && !this.alone) {
			this.rest = Deadline.after(rest(held));
		}
		return this.lease.release();
	}

	private Duration rest(Duration held) {
		Duration share = held.dividedBy(REST);
		Duration rest = (share.compareTo(SHORTEST_REST) > 0) ? share : SHORTEST_REST;
		return (rest.compareTo(this.noticeTime) < 0) ? rest : this.noticeTime;
	}

	/**
	 * Leave the lock to other JVMs for a while.
	 */
	void rest(Deadline deadline) throws InterruptedException {
		Deadline rest = this.rest;
		if (rest != null) {
			TimeUnit.NANOSECONDS.sleep(Math.min(rest.remainingNanos(), deadline.remainingNanos()));
		}
	}

	/**
	 * Extend the lease, unless the turn is over by then, so that a renewal for one holder
	 * never runs into the turn of the next one.
	 */
	boolean renew(Duration leaseTime, BooleanSupplier over) {
		this.renewing.lock();
		try {
			boolean doubtful = this.doubtful;
			this.doubtful = true;
			if (over.getAsBoolean()) {
				this.doubtful = doubtful;
				return false;
			}
			boolean renewed = this.lease.renew(leaseTime);
			this.doubtful = !renewed;
			return renewed;
		}
		finally {
			this.renewing.unlock();
		}
	}

	LockLease lease() {
		return this.lease;
	}

}
