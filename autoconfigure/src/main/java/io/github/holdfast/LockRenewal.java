package io.github.holdfast;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

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

	private final ScheduledThreadPoolExecutor executor;

	LockRenewal() {
		this.executor = LockThreads.scheduler("holdfast-renewal", THREADS);
		this.executor.setRemoveOnCancelPolicy(true);
		this.executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	/**
	 * Prepare to renew a lease.
	 * @param key the key as the caller gave it
	 * @param lease the lease
	 * @param settings the times of the lock
	 * @return the renewal, which is to be started
	 */
	Task task(String key, LockLease lease, LockSettings settings) {
		return new Task(key, lease, settings);
	}

	private static long nanos(Duration duration) {
		return TimeUnit.NANOSECONDS.convert(duration);
	}

	/**
	 * Do something about the lock of a key later, unless the application ends before.
	 */
	@Nullable Future<?> schedule(String key, Runnable task, long nanos) {
		try {
			return this.executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.warn("Lock {} is no longer looked after, as the application is shutting down",
					LockException.quote(key));
			return null;
		}
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

	/**
	 * The renewal of one lease.
	 */
	final class Task implements Runnable {

		private final String key;

		private final LockLease lease;

		private final Duration leaseTime;

		private final @Nullable Duration maxHoldTime;

		private final long start = System.nanoTime();

		/** An answer that comes late must not replace the time of a later request. */
		private final Lock renewing = new ReentrantLock();

		private @Nullable Future<?> next;

		private boolean stopped;

		private Task(String key, LockLease lease, LockSettings settings) {
			this.key = key;
			this.lease = lease;
			this.leaseTime = settings.leaseTime();
			this.maxHoldTime = settings.maxHoldTime();
		}

		/**
		 * Start to renew the lease, if it is one that runs out: after a third of its
		 * time, which began before the store was asked.
		 */
		void start() {
			Duration remaining = this.lease.remaining();
			if (remaining != null) {
				long third = nanos(this.leaseTime) / 3;
				schedule(Math.max(0, Math.min(third, nanos(remaining) - 2 * third)));
			}
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

		/**
		 * Stop the renewal, and let the store keep the lock for a last time.
		 * @return whether the lock is still ours
		 */
		boolean renewLast(Duration time) {
			stop();
			this.renewing.lock();
			try {
				return this.lease.renew(time);
			}
			finally {
				this.renewing.unlock();
			}
		}

		/**
		 * The time since the lock was acquired.
		 */
		Duration held() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

		private synchronized boolean isStopped() {
			return this.stopped;
		}

		private synchronized void schedule(long delay) {
			if (!this.stopped) {
				this.next = LockRenewal.this.schedule(this.key, this, delay);
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

		private void renew(Duration held) {
			if (this.maxHoldTime != null && held.compareTo(this.maxHoldTime) >= 0) {
				logger.warn("Lock {} is no longer renewed, as it is held for longer than its maximum of {} ms", key(),
						this.maxHoldTime.toMillis());
				return;
			}
			try {
				if (this.lease.renew(leaseTime(held))) {
					schedule(nanos(this.leaseTime) / 3);
				}
				else if (!isStopped()) {
					logger.warn("Lock {} was lost after {} ms: the store has given it to another holder or freed it",
							key(), held.toMillis());
				}
			}
			catch (RuntimeException | Error ex) {
				logger.warn("Lock {} could not be renewed, trying again; it is provably ours for {}", key(),
						this.lease.remaining(), ex);
				schedule(nanos(this.leaseTime) / 10);
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
			return LockException.quote(this.key);
		}

	}

}
