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
 * When leases are extended, and by which threads. A few threads serve all leases, so that
 * one statement that hangs does not stall the others; the one that runs out first comes
 * first. Without leases there are no threads.
 */
final class LockRenewal implements AutoCloseable {

	private static final Logger logger = Loggers.TEMPLATE;

	private static final int THREADS = 4;

	/** Near enough that sums of nano times do not overflow. */
	private static final long LONGEST = Long.MAX_VALUE / 4;

	/** Has one thread, which never asks a store. */
	private final ScheduledThreadPoolExecutor timer = LockThreads.scheduler("holdfast-schedule", 1);

	private final ThreadPoolExecutor executor = LockThreads.inOrder("holdfast-renewal", THREADS);

	LockRenewal() {
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	static long nanos(Duration duration) {
		return Math.min(TimeUnit.NANOSECONDS.convert(duration), LONGEST);
	}

	/**
	 * Do something about the lock of a key later, unless the application ends before.
	 */
	@Nullable Future<?> schedule(String key, Runnable task, long nanos) {
		return schedule(key, task, System::nanoTime, nanos);
	}

	/**
	 * Do something about the lock of a key later, when a thread is free: first what is
	 * left the least time for.
	 * @param end until when it has to be done, by the monotonic clock
	 */
	@Nullable Future<?> schedule(String key, Runnable task, LongSupplier end, long nanos) {
		try {
			return this.timer.schedule(() -> execute(new Job(task, end.getAsLong())), nanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.warn("Lock {} is no longer looked after, as the application is shutting down",
					LockException.quote(key));
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
		this.timer.shutdownNow();
		this.executor.shutdownNow();
	}

	/**
	 * What is to be done by a moment of the monotonic clock.
	 */
	private record Job(Runnable task, long end) implements Runnable, Comparable<Job> {

		@Override
		public void run() {
			this.task.run();
		}

		@Override
		public int compareTo(Job other) {
			return Long.signum(this.end - other.end);
		}

	}

}
