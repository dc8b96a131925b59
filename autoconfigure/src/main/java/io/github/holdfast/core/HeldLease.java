package io.github.holdfast.core;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;

/**
 * A lease that a call has acquired, until it is given back. It is renewed while the body
 * runs, and may be kept for some time afterwards.
 *
 * <p>
 * Renewals are started by the threads of {@link LockRenewal}, the end by that of the
 * call. The answer to one request must not replace the time of a later one, so the end
 * waits for a renewal that is under way.
 */
final class HeldLease {

	private static final Logger logger = Loggers.TEMPLATE;

	private static final Duration SHORTEST_RENEWAL = Duration.ofMillis(1);

	/** For leases without an end, which stay behind for some time. */
	private static final ScheduledThreadPoolExecutor keepers = LockThreads.scheduler("holdfast-keeper", 2);

	private static final CompletableFuture<Void> NONE = CompletableFuture.completedFuture(null);

	private final String key;

	private final LockLease lease;

	private final LockSpec.Times times;

	private final LockRenewal renewal;

	private final LockEvents events;

	private final long start = System.nanoTime();

	/** The renewal that is under way, or the last one. */
	private final AtomicReference<CompletableFuture<Void>> current = new AtomicReference<>(NONE);

	/** The next renewal. */
	private volatile @Nullable Future<?> next;

	private volatile boolean stopped;

	/** When the lease runs out, more or less. */
	private volatile long end;

	/**
	 * Create a lease that is not renewed yet.
	 * @param key the key as the caller gave it
	 * @param lease what the store has granted
	 * @param times how long to hold it
	 * @param renewal the threads of the renewal
	 * @param events those of the call
	 */
	HeldLease(String key, LockLease lease, LockSpec.Times times, LockRenewal renewal, LockEvents events) {
		this.key = key;
		this.lease = lease;
		this.times = times;
		this.renewal = renewal;
		this.events = events;
	}

	String key() {
		return this.key;
	}

	LockLease lease() {
		return this.lease;
	}

	/**
	 * The time since the lock was acquired.
	 */
	private Duration held() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	/**
	 * Start to renew the lease, if it is one that runs out: after a third of its time,
	 * which began before the store was asked. If that fails, the lease has to be given
	 * back.
	 */
	void keepRenewed() {
		Duration remaining = this.lease.remaining();
		if (remaining != null) {
			long third = leaseNanos() / 3;
			long left = LockRenewal.nanos(remaining);
			this.end = System.nanoTime() + left;
			renewAfter(Math.max(0, Math.min(third, left - 2 * third)));
		}
	}

	private long leaseNanos() {
		return LockRenewal.nanos(this.times.leaseTime());
	}

	/**
	 * Not before it is known whether the lease is handed over.
	 */
	private synchronized boolean isStoppedForGood() {
		return this.stopped;
	}

	private void renewAfter(long delay) {
		if (!this.stopped) {
			this.next = this.renewal.schedule(this.key, this::renew, () -> this.end, delay);
		}
	}

	/**
	 * Ask for more time, and plan the next renewal when the store has answered.
	 */
	private void renew() {
		CompletableFuture<Void> renewal = new CompletableFuture<>();
		this.current.set(renewal);
		Duration time = timeToRenew();
		if (time == null) {
			renewal.complete(null);
			return;
		}
		startRenewal(time).whenComplete((renewed, failure) -> {
			renewal.complete(null);
			long delay = (failure != null) ? notRenewed(failure) : renewed(renewed);
			if (delay > 0) {
				renewAfter(delay);
			}
		});
	}

	private CompletionStage<Boolean> startRenewal(Duration time) {
		try {
			return this.lease.startRenewal(time);
		}
		catch (RuntimeException | Error ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * The time to ask for, or {@code null} if the lease is not to be renewed any more.
	 */
	private @Nullable Duration timeToRenew() {
		Duration leaseTime = this.times.leaseTime();
		Duration maxHoldTime = this.times.maxHoldTime();
		if (this.stopped || maxHoldTime == null) {
			return this.stopped ? null : leaseTime;
		}
		Duration left = maxHoldTime.minus(held());
		if (left.compareTo(SHORTEST_RENEWAL) < 0) {
			logger.warn("Lock {} is no longer renewed, as it is held for longer than its maximum of {} ms", quoted(),
					maxHoldTime.toMillis());
			return null;
		}
		return (left.compareTo(leaseTime) < 0) ? left : leaseTime;
	}

	private long renewed(boolean renewed) {
		if (renewed) {
			this.end = System.nanoTime() + leaseNanos();
			return leaseNanos() / 3;
		}
		if (!isStoppedForGood()) {
			logger.warn("Lock {} was lost after {} ms: the store has given it to another holder or freed it", quoted(),
					held().toMillis());
			this.events.lostMeanwhile(this.key);
		}
		return 0;
	}

	private long notRenewed(Throwable answer) {
		Throwable failure = LockRelease.cause(answer);
		logger.warn("Lock {} could not be renewed, trying again; it is provably ours for {}", quoted(),
				this.lease.remaining(), failure);
		this.events.renewalFailed(failure);
		return leaseNanos() / 10;
	}

	/**
	 * Renew no more. What an answer that is still under way says does not matter any
	 * more.
	 */
	void stopRenewal() {
		this.stopped = true;
		Future<?> next = this.next;
		if (next != null) {
			this.renewal.cancel(next);
		}
	}

	/**
	 * Hand the lease over to the next thread of this JVM and stop the renewal, which
	 * would take it for lost.
	 * @return {@code false} if it has to be released
	 */
	synchronized boolean handOver() {
		try {
			if (!this.lease.handOver()) {
				return false;
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Lock {} could not be handed over", quoted(), ex);
			return false;
		}
		stopRenewal();
		return true;
	}

	/**
	 * Whether others may have the lock, as far as the time tells.
	 */
	boolean hasRunOut() {
		Duration remaining = this.lease.remaining();
		return remaining != null && remaining.isZero();
	}

	/**
	 * Stop the renewal and give the lease back. The interrupt flag is put aside
	 * meanwhile, as clients refuse to work with it.
	 * @return completes when the store has answered
	 */
	CompletionStage<Boolean> release() {
		stopRenewal();
		return undisturbed(this.lease::release);
	}

	private static <T> T undisturbed(Supplier<T> call) {
		boolean interrupted = Thread.interrupted();
		try {
			return call.get();
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Stop the renewal without giving the lease back, which is done when it has run out:
	 * after the lease time, or at once if it is over, but never before the end of its
	 * minimum hold time.
	 */
	void releaseWhenRunOut() {
		stopRenewal();
		Duration remaining = this.lease.remaining();
		Duration rest = restOfMinHoldTime();
		Duration quarantine = this.lease.hasEnded() ? Duration.ZERO : this.times.leaseTime();
		if (remaining != null && rest.compareTo(remaining) > 0) {
			this.renewal.schedule(this.key, this::holdOn, () -> this.end, 0);
		}
		else {
			giveBackAfter((rest.compareTo(quarantine) > 0) ? rest : quarantine);
		}
	}

	/**
	 * The time that is missing to the minimum hold time, rounded up to milliseconds.
	 */
	Duration restOfMinHoldTime() {
		Duration minHoldTime = this.times.minHoldTime();
		if (minHoldTime == null) {
			return Duration.ZERO;
		}
		Duration rest = minHoldTime.minus(held());
		return rest.isNegative() ? Duration.ZERO : rest.plusNanos(999_999).truncatedTo(ChronoUnit.MILLIS);
	}

	/**
	 * Stop the renewal, let the store keep the lock for some time even if this JVM ends,
	 * and give it back then, or at once if it was lost. If the store fails, it is asked
	 * again later.
	 * @return whether the lock is still ours
	 */
	boolean hold(Duration rest) {
		return undisturbed(() -> doHold(rest));
	}

	private boolean doHold(Duration rest) {
		try {
			boolean held = renewLast(rest);
			if (!held) {
				giveBack();
			}
			else {
				giveBackAfter(rest);
			}
			return held;
		}
		catch (RuntimeException | Error ex) {
			this.renewal.schedule(this.key, this::holdOn, () -> this.end,
					Math.min(rest.toNanos(), this.times.leaseTime().toNanos() / 10));
			throw ex;
		}
	}

	private boolean renewLast(Duration time) {
		stopRenewal();
		this.current.get().join();
		return this.lease.renew(time);
	}

	private void holdOn() {
		Duration rest = restOfMinHoldTime();
		try {
			if (rest.isZero()) {
				giveBack();
			}
			else if (!doHold(rest)) {
				logger.warn("Lock {} was lost {} ms before the end of its minimum hold time", quoted(),
						rest.toMillis());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be held for its minimum hold time, trying again", quoted(), ex);
		}
	}

	/**
	 * A lock in this JVM does not end with the application, as the threads of the renewal
	 * do.
	 */
	private void giveBackAfter(Duration time) {
		long nanos = LockRenewal.nanos(time);
		if (this.lease.remaining() == null) {
			keepers.schedule(this::giveBack, nanos, TimeUnit.NANOSECONDS);
		}
		else {
			this.renewal.schedule(this.key, this::giveBack, () -> this.end, nanos);
		}
	}

	private void giveBack() {
		try {
			this.lease.release().toCompletableFuture().join();
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be released, it runs out by itself unless another attempt succeeds",
					quoted(), ex);
		}
	}

	private String quoted() {
		return LockException.quote(this.key);
	}

}
