package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * One lease of the store and the threads of this JVM that have it one after the other.
 * Whoever has the permit of the key has the lease; a cohort goes along with the permit.
 *
 * <p>
 * After Dice, Marathe and Shavit, "Lock Cohorting" (ACM TOPC 1(2), 2015).
 */
final class Cohort {

	private static final Logger logger = LoggerFactory.getLogger(Cohort.class);

	/** Of the time that a JVM had a lock, what it leaves to others at least. */
	private static final int REST = 8;

	/** How long another JVM takes at least to ask for a lock. */
	private static final Duration SHORTEST_REST = Duration.ofNanos(500_000);

	private final LockLease lease;

	private final HandoverLimits limits;

	private final Duration noticeTime;

	private final OtherJvms others;

	private final long start = System.nanoTime();

	private final RenewalGate renewals = new RenewalGate();

	private volatile int turn = -1;

	/** Those holders in a row that may have kept others waiting. */
	private volatile int contended = 1;

	private volatile Deadline rest = Deadline.PASSED;

	private volatile boolean ended;

	Cohort(LockLease lease, HandoverLimits limits, Duration noticeTime, @Nullable Cohort earlier) {
		this.lease = lease;
		this.limits = limits;
		this.noticeTime = noticeTime;
		this.others = new OtherJvms(lease, limits.maxTime(), (earlier != null) ? earlier.others : null);
	}

	/**
	 * The lease for the one who asked the store for it.
	 */
	LockLease first(KeyedPermits<Cohort>.Permit permit, LockRequest request) {
		return nextTurn(permit, request);
	}

	/**
	 * The lease for one who got the permit from another thread.
	 * @return the lease, or {@code null} if there is none any more, or none for this
	 * request
	 */
	@Nullable LockLease next(KeyedPermits<Cohort>.Permit permit, LockRequest request, LockBackend store) {
		if (this.ended) {
			return null;
		}
		try {
			if (store.serves(this.lease, request) && this.limits.names().test(request.name())
					&& request.minEpoch() <= this.lease.epoch() && lasts(request.leaseTime(), permit)) {
				return nextTurn(permit, request);
			}
		}
		catch (RuntimeException | Error ex) {
			giveUp();
			throw ex;
		}
		giveUp();
		return null;
	}

	/**
	 * Each holder begins with at least as much time as a renewal would leave it, and with
	 * no more than it has asked for.
	 */
	private boolean lasts(Duration leaseTime, KeyedPermits<Cohort>.Permit permit) {
		Duration remaining = this.lease.remaining();
		if (remaining == null) {
			return this.lease.isValid();
		}
		if (remaining.compareTo(leaseTime) <= 0
				&& leaseTime.minus(remaining).toNanos() <= TimeUnit.NANOSECONDS.convert(leaseTime) / 3) {
			return true;
		}
		try {
			return Answers.join(renew(permit, () -> false, leaseTime,
					() -> CompletableFuture.completedStage(this.lease.renew(leaseTime))));
		}
		catch (LockBackendException ex) {
			logger.debug("Lock '{}' is not handed over, as it could not be renewed", this.lease.key(), ex);
			return false;
		}
	}

	/**
	 * Renew the lease, unless the turn is over. It is not handed over meanwhile.
	 * @param renewal asks the store
	 */
	CompletionStage<Boolean> renew(KeyedPermits<Cohort>.Permit permit, BooleanSupplier over, Duration leaseTime,
			Supplier<CompletionStage<Boolean>> renewal) {
		Duration before = this.lease.remaining();
		return this.renewals.renew(over, renewal).whenComplete((renewed, failure) -> {
			if (before != null && (!Boolean.TRUE.equals(renewed) || leaseTime.compareTo(before) < 0)) {
				permit.expiresEarlier();
			}
		});
	}

	private LockLease nextTurn(KeyedPermits<Cohort>.Permit permit, LockRequest request) {
		int turn = this.turn + 1;
		this.turn = turn;
		permit.expireAfter(this::nextLook);
		if (turn > 0) {
			this.others.askAgain();
		}
		return new TurnLease(this, permit, turn, request.name());
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
	 * Hand the lease over to the next thread that waits, if there is one and that is
	 * allowed: not while a renewal for this turn is under way.
	 * @param turnEnds is run before the next thread has it
	 */
	boolean handOver(KeyedPermits<Cohort>.Permit permit, String name, Runnable turnEnds) {
		try (RenewalGate.Change change = this.renewals.beginChange()) {
			return change != null && mayHandOver(name) && permit.handOver(() -> {
				this.contended = this.others.mayWait() ? this.contended + 1 : 1;
				turnEnds.run();
				change.end();
				return this;
			});
		}
	}

	private boolean mayHandOver(String name) {
		return !this.ended && this.limits.names().test(name) && !isAtItsLimits() && this.lease.isValid();
	}

	private boolean isAtItsLimits() {
		return this.turn + 1 == HandoverLimits.MOST_TURNS || held().compareTo(this.limits.maxTime()) >= 0
				|| (this.contended >= this.limits.maxTurns() && (this.limits.maxTurns() < 2 || this.others.mayWait()));
	}

	private Duration held() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	/**
	 * Give the lease back to the store, and the permit to the next thread when the store
	 * has answered.
	 */
	CompletionStage<Boolean> release(KeyedPermits<Cohort>.Permit permit) {
		permit.releasesSoon();
		try {
			return end().whenComplete((released, failure) -> {
				try {
					restIfOthersWait();
				}
				finally {
					permit.releaseWith(this);
				}
			});
		}
		catch (RuntimeException | Error ex) {
			permit.release();
			throw ex;
		}
	}

	/**
	 * Hand a lease over that the thread with the permit does not want.
	 */
	void decline(KeyedPermits<Cohort>.Permit permit) {
		if (!this.ended && permit.handOver(() -> this)) {
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
		catch (RuntimeException ex) {
			logger.debug("Lock '{}' could not be released, it runs out by itself", this.lease.key(), ex);
		}
	}

	private CompletionStage<Boolean> end() {
		this.ended = true;
		return this.lease.release();
	}

	/**
	 * The store has told with its answer to the release, if it ever does. A JVM that has
	 * stopped before its limits has left the lock to others anyway.
	 */
	private void restIfOthersWait() {
		this.others.ask();
		if (this.limits.maxTurns() > 1 && isAtItsLimits() && this.others.mayWait()) {
			this.rest = Deadline.after(rest(held()));
		}
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
		if (!this.rest.hasPassed()) {
			TimeUnit.NANOSECONDS.sleep(Math.min(this.rest.remainingNanos(), deadline.remainingNanos()));
		}
	}

	LockLease lease() {
		return this.lease;
	}

}
