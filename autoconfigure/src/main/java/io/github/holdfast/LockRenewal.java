package io.github.holdfast;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extends leases at a third of their time while their holders run. A few threads serve
 * all leases, so that one statement that hangs does not stall the others; without leases
 * there are no threads.
 */
final class LockRenewal implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private static final int THREADS = 4;

	private static final AtomicInteger threadNumber = new AtomicInteger();

	private final ScheduledThreadPoolExecutor executor;

	LockRenewal() {
		this.executor = new ScheduledThreadPoolExecutor(THREADS, (task) -> {
			Thread thread = new Thread(task, "holdfast-renewal-" + threadNumber.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		});
		this.executor.setKeepAliveTime(10, TimeUnit.SECONDS);
		this.executor.allowCoreThreadTimeOut(true);
		this.executor.setRemoveOnCancelPolicy(true);
		this.executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Start to renew a lease, if it is one that runs out: after a third of its time,
	 * which began before the store was asked.
	 * @param lease the lease
	 * @param settings the times of the lock
	 * @return the running renewal
	 */
	Task start(LockLease lease, LockSettings settings) {
		Task task = new Task(lease, settings);
		Duration remaining = lease.remaining();
		if (remaining != null) {
			long third = settings.leaseTime().toNanos() / 3;
			task.schedule(Math.max(0, Math.min(third, remaining.toNanos() - 2 * third)));
		}
		return task;
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

	/**
	 * The renewal of one lease.
	 */
	final class Task implements Runnable {

		private final LockLease lease;

		private final Duration leaseTime;

		private final @Nullable Duration maxHoldTime;

		private final @Nullable Duration minHoldTime;

		private final long start = System.nanoTime();

		/** An answer that comes late must not replace the time of a later request. */
		private final Lock renewing = new ReentrantLock();

		private @Nullable Future<?> next;

		private boolean stopped;

		private Task(LockLease lease, LockSettings settings) {
			this.lease = lease;
			this.leaseTime = settings.leaseTime();
			this.maxHoldTime = settings.maxHoldTime();
			this.minHoldTime = settings.minHoldTime();
		}

		LockLease lease() {
			return this.lease;
		}

		/**
		 * The last one in the queue stays there until its time has come: to a queue that
		 * is empty, the next lease would wake a thread.
		 */
		synchronized void stop() {
			this.stopped = true;
			if (this.next != null && LockRenewal.this.executor.getQueue().size() > 1) {
				this.next.cancel(false);
			}
		}

		/**
		 * Stop the renewal and give the lease back. The interrupt flag is put aside
		 * meanwhile, as clients refuse to work with it.
		 * @return completes when the store has answered
		 */
		CompletionStage<Boolean> release() {
			stop();
			return undisturbed(this.lease::release);
		}

		/**
		 * Pass the lease on and stop the renewal, which would take it for lost.
		 * @return {@code false} if it has to be released
		 */
		synchronized boolean passOn() {
			try {
				if (!this.lease.passOn()) {
					return false;
				}
			}
			catch (RuntimeException ex) {
				logger.debug("Lock {} could not be passed on", key(), ex);
				return false;
			}
			stop();
			return true;
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
		 * Stop the renewal without giving the lease back. One that does not run out by
		 * itself is given back after the lease time, or at once if its session has ended,
		 * but none is free before the end of its minimum hold time.
		 */
		void releaseWhenRunOut() {
			stop();
			Duration remaining = this.lease.remaining();
			Duration rest = restOfMinHoldTime();
			if (remaining == null) {
				Duration quarantine = this.lease.isValid() ? this.leaseTime : Duration.ZERO;
				giveBackAfter((rest.compareTo(quarantine) > 0) ? rest : quarantine);
			}
			else if (rest.compareTo(remaining) > 0) {
				submit(this::holdOn, 0);
			}
		}

		/**
		 * The time that is missing to the minimum hold time, rounded up to milliseconds.
		 */
		Duration restOfMinHoldTime() {
			Duration rest = (this.minHoldTime != null) ? this.minHoldTime.minus(held()) : Duration.ZERO;
			return rest.isNegative() ? Duration.ZERO : rest.plusNanos(999_999).truncatedTo(ChronoUnit.MILLIS);
		}

		/**
		 * Stop the renewal, let the store keep the lock for some time even if this JVM
		 * ends, and give it back then. If the store fails, it is asked again later.
		 * @return whether the lock is still ours
		 */
		boolean hold(Duration rest) {
			stop();
			return undisturbed(() -> doHold(rest));
		}

		private boolean doHold(Duration rest) {
			this.renewing.lock();
			try {
				boolean held = this.lease.renew(rest);
				if (held && this.lease.remaining() == null) {
					giveBackAfter(rest);
				}
				else if (held) {
					submit(this::giveBack, rest.toNanos());
				}
				return held;
			}
			catch (RuntimeException ex) {
				submit(this::holdOn, Math.min(rest.toNanos(), this.leaseTime.toNanos() / 10));
				throw ex;
			}
			finally {
				this.renewing.unlock();
			}
		}

		private void holdOn() {
			Duration rest = restOfMinHoldTime();
			try {
				if (rest.isZero()) {
					giveBack();
				}
				else if (!doHold(rest)) {
					logger.warn("Lock {} was lost {} ms before the end of its minimum hold time", key(),
							rest.toMillis());
				}
			}
			catch (RuntimeException ex) {
				logger.warn("Lock {} could not be held for its minimum hold time, trying again", key(), ex);
			}
		}

		/**
		 * Not on our threads, which end with the application, whereas a lock in this JVM
		 * does not.
		 */
		private void giveBackAfter(Duration time) {
			CompletableFuture.delayedExecutor(time.toNanos(), TimeUnit.NANOSECONDS).execute(this::giveBack);
		}

		private void giveBack() {
			try {
				this.lease.release().toCompletableFuture().join();
			}
			catch (RuntimeException ex) {
				logger.warn("Lock {} could not be released, it runs out by itself", key(), ex);
			}
		}

		private synchronized boolean isStopped() {
			return this.stopped;
		}

		private synchronized void schedule(long delay) {
			if (!this.stopped) {
				this.next = submit(this, delay);
			}
		}

		private @Nullable Future<?> submit(Runnable task, long delay) {
			try {
				return LockRenewal.this.executor.schedule(task, delay, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				logger.warn("Lock {} is no longer looked after, as the application is shutting down", key());
				return null;
			}
		}

		@Override
		public void run() {
			this.renewing.lock();
			try {
				if (!isStopped()) {
					renew(held());
				}
			}
			finally {
				this.renewing.unlock();
			}
		}

		private Duration held() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

		private void renew(Duration held) {
			if (this.maxHoldTime != null && held.compareTo(this.maxHoldTime) >= 0) {
				logger.warn("Lock {} is no longer renewed, as it is held for longer than its maximum of {} ms", key(),
						this.maxHoldTime.toMillis());
				return;
			}
			try {
				if (this.lease.renew(leaseTime(held))) {
					schedule(this.leaseTime.toNanos() / 3);
				}
				else if (!isStopped()) {
					logger.warn("Lock {} was lost after {} ms: the store has given it to another holder or freed it",
							key(), held.toMillis());
				}
			}
			catch (RuntimeException ex) {
				logger.warn("Lock {} could not be renewed, trying again; it is provably ours for {}", key(),
						this.lease.remaining(), ex);
				schedule(this.leaseTime.toNanos() / 10);
			}
		}

		private Duration leaseTime(Duration held) {
			if (this.maxHoldTime == null) {
				return this.leaseTime;
			}
			Duration left = this.maxHoldTime.minus(held);
			return (left.compareTo(this.leaseTime) < 0) ? left : this.leaseTime;
		}

		private String key() {
			return LockException.quote(this.lease.key());
		}

	}

}
