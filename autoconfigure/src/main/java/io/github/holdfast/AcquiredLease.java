package io.github.holdfast;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lease that a call has acquired, until it is given back. It is renewed while the body
 * runs, and may be kept for some time afterwards.
 */
final class AcquiredLease {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	/** For leases without an end, which stay behind for some time. */
	private static final ScheduledThreadPoolExecutor keepers = LockThreads.scheduler("holdfast-keeper", 2);

	private final String key;

	private final LockLease lease;

	private final Duration leaseTime;

	private final @Nullable Duration minHoldTime;

	private final LockRenewal renewal;

	private final LockRenewal.Task task;

	/**
	 * Create a lease that is not renewed yet.
	 * @param key the key as the caller gave it
	 * @param lease what the store has granted
	 * @param settings the times of the lock
	 * @param renewal renews what needs to be
	 * @param call renews the leases of the call
	 */
	AcquiredLease(String key, LockLease lease, LockSettings settings, LockRenewal renewal, LockRenewal.Call call) {
		this.key = key;
		this.lease = lease;
		this.leaseTime = settings.leaseTime();
		this.minHoldTime = settings.minHoldTime();
		this.renewal = renewal;
		this.task = call.task(key, lease, settings);
	}

	/**
	 * Start to renew the lease, if it is one that runs out. If that fails, the lease has
	 * to be given back.
	 */
	void keepRenewed() {
		this.task.start();
	}

	String key() {
		return this.key;
	}

	LockLease lease() {
		return this.lease;
	}

	/**
	 * Stop the renewal and pass the lease on to the next thread of this JVM.
	 * @return {@code false} if it has to be released
	 */
	boolean passOn() {
		return this.task.passOn();
	}

	/**
	 * Stop the renewal and give the lease back. The interrupt flag is put aside
	 * meanwhile, as clients refuse to work with it.
	 * @return completes when the store has answered
	 */
	CompletionStage<Boolean> release() {
		this.task.stop();
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
	 * Stop the renewal without giving the lease back. One that does not run out by itself
	 * is given back after the lease time, or at once if its session has ended, but none
	 * is free before the end of its minimum hold time.
	 */
	void releaseWhenRunOut() {
		this.task.stop();
		Duration remaining = this.lease.remaining();
		Duration rest = restOfMinHoldTime();
		if (remaining == null) {
			Duration quarantine = this.lease.hasEnded() ? Duration.ZERO : this.leaseTime;
			giveBackAfter((rest.compareTo(quarantine) > 0) ? rest : quarantine);
		}
		else if (rest.compareTo(remaining) > 0) {
			this.renewal.schedule(this.key, this::holdOn, 0);
		}
	}

	/**
	 * The time that is missing to the minimum hold time, rounded up to milliseconds.
	 */
	Duration restOfMinHoldTime() {
		Duration rest = (this.minHoldTime != null) ? this.minHoldTime.minus(this.task.held()) : Duration.ZERO;
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
			boolean held = this.task.renewLast(rest);
			if (!held) {
				giveBack();
			}
			else if (this.lease.remaining() == null) {
				giveBackAfter(rest);
			}
			else {
				this.renewal.schedule(this.key, this::giveBack, rest.toNanos());
			}
			return held;
		}
		catch (RuntimeException ex) {
			this.renewal.schedule(this.key, this::holdOn, Math.min(rest.toNanos(), this.leaseTime.toNanos() / 10));
			throw ex;
		}
	}

	private void holdOn() {
		Duration rest = restOfMinHoldTime();
		try {
			if (rest.isZero()) {
				giveBack();
			}
			else if (!doHold(rest)) {
				logger.warn("Lock {} was lost {} ms before the end of its minimum hold time",
						LockException.quote(this.key), rest.toMillis());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be held for its minimum hold time, trying again",
					LockException.quote(this.key), ex);
		}
	}

	/**
	 * Not on the threads of the renewal, which end with the application, whereas a lock
	 * in this JVM does not.
	 */
	private void giveBackAfter(Duration time) {
		keepers.schedule(this::giveBack, TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
	}

	private void giveBack() {
		try {
			this.lease.release().toCompletableFuture().join();
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be released, it runs out by itself unless another attempt succeeds",
					LockException.quote(this.key), ex);
		}
	}

}
