package io.github.holdfast.core;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.holdfast.LockException;

/**
 * When leases of one backend are extended, and by which threads. A few are enough for a
 * store whose client does not wait for answers; where each renewal blocks one, those of
 * another store are not held up. The lease that runs out first comes first, and those
 * that have run out come last. Without leases there are no threads.
 */
final class LockRenewal implements AutoCloseable {

	private static final Logger logger = Loggers.TEMPLATE;

	private static final int THREADS = 4;

	/** Near enough that sums of nano times do not overflow. */
	private static final long LONGEST = Long.MAX_VALUE / 4;

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor executor;

	/**
	 * Create the threads of a backend.
	 * @param timer has one thread, which never asks a store
	 * @param backend the name of the backend
	 */
	LockRenewal(ScheduledThreadPoolExecutor timer, String backend) {
		this.timer = timer;
		this.executor = LockThreads.inOrder("holdfast-renewal-" + backend, THREADS);
	}

	/**
	 * A timer for the renewals of all backends.
	 */
	static ScheduledThreadPoolExecutor timer() {
		ScheduledThreadPoolExecutor timer = LockThreads.scheduler("holdfast-schedule", 1);
		timer.setRemoveOnCancelPolicy(true);
		timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		return timer;
	}

	static long nanos(Duration duration) {
		return Math.min(TimeUnit.NANOSECONDS.convert(duration), LONGEST);
	}

	/**
	 * Do something about the lock of a key later, when a thread is free: first what is
	 * left the least time for.
	 * @param end until when it has to be done, by the monotonic clock
	 */
	@Nullable Future<?> schedule(String key, Runnable task, LongSupplier end, long nanos) {
		try {
			return this.timer.schedule(() -> execute(Job.of(task, end.getAsLong())), nanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.warn("Lock {} is no longer renewed, as the application is shutting down", LockException.quote(key));
			return null;
		}
	}

	/**
	 * Take back what was scheduled. The last one in the queue stays there until its time
	 * has come: to a queue that is empty, the next lease would wake a thread.
	 */
	void cancel(Future<?> scheduled) {
		if (this.timer.getQueue().size() > 1) {
			scheduled.cancel(false);
		}
	}

	private void execute(Job job) {
		try {
			this.executor.execute(job);
		}
		catch (RejectedExecutionException ex) {
			// The application ends
		}
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

	/**
	 * What is to be done by a moment of the monotonic clock, or is late already.
	 */
	private record Job(Runnable task, long end, boolean late) implements Runnable, Comparable<Job> {

		private static Job of(Runnable task, long end) {
			return new Job(task, end, end - System.nanoTime() <= 0);
		}

		@Override
		public void run() {
			this.task.run();
		}

		@Override
		public int compareTo(Job other) {
			return (this.late != other.late) ? Boolean.compare(this.late, other.late)
					: Long.signum(this.end - other.end);
		}

	}

}
