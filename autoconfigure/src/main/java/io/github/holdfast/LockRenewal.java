package io.github.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

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
	 * Start to renew a lease, if it is one that runs out.
	 * @param lease the lease
	 * @param leaseTime the time to extend it by
	 * @param maxHoldTime when to stop, or {@code null} for never
	 * @return the running renewal
	 */
	Task start(LockLease lease, Duration leaseTime, @Nullable Duration maxHoldTime) {
		Task task = new Task(lease, leaseTime, maxHoldTime);
		if (lease.remaining() != null) {
			task.schedule(leaseTime.toNanos() / 3);
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

		private final long start = System.nanoTime();

		private @Nullable Future<?> next;

		private boolean stopped;

		private Task(LockLease lease, Duration leaseTime, @Nullable Duration maxHoldTime) {
			this.lease = lease;
			this.leaseTime = leaseTime;
			this.maxHoldTime = maxHoldTime;
		}

		LockLease lease() {
			return this.lease;
		}

		synchronized void stop() {
			this.stopped = true;
			if (this.next != null) {
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
			boolean interrupted = Thread.interrupted();
			try {
				return this.lease.release();
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

		/**
		 * Stop the renewal without giving the lease back. One that does not run out by
		 * itself is given back after the lease time.
		 */
		void releaseWhenRunOut() {
			stop();
			if (this.lease.remaining() == null) {
				submit(this.lease::release, this.leaseTime.toNanos());
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
			if (isStopped()) {
				return;
			}
			Duration held = Duration.ofNanos(System.nanoTime() - this.start);
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
