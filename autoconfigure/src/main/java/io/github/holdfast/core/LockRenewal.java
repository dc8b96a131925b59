package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockException;

/**
 * Extends leases at a third of their time while their holders run. Those of one call are
 * extended together if the store can do that in one round trip. A few threads serve all
 * leases, so that one statement that hangs does not stall the others; the one that runs
 * out first comes first. Without leases there are no threads.
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

	/**
	 * Prepare to renew the leases of a call.
	 * @param backend the backend that grants them
	 * @return the renewals of the call
	 */
	Call call(LockBackend backend) {
		return new Call(backend);
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
	 * Do something later, when a thread is free: first what is left the least time for.
	 */
	private @Nullable Future<?> schedule(String key, Runnable task, LongSupplier end, long nanos) {
		try {
			return this.timer.schedule(() -> execute(new Job(task, end.getAsLong())), nanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.warn("Lock {} is no longer looked after, as the application is shutting down",
					LockException.quote(key));
			return null;
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

	/**
	 * The renewals of one call. Not for use by two threads at a time, as a call acquires
	 * its locks by one.
	 */
	final class Call {

		private final LockBackend backend;

		private @Nullable Batch last;

		private Call(LockBackend backend) {
			this.backend = backend;
		}

		/**
		 * Prepare to renew one more lease.
		 */
		Entry add(HeldLease lease) {
			Batch batch = this.last;
			if (batch == null || batch.isFull()) {
				batch = new Batch(this.backend);
				this.last = batch;
			}
			return batch.add(lease);
		}

	}

	/**
	 * Leases of one call that are renewed together.
	 */
	private final class Batch implements Runnable {

		private final LockBackend backend;

		private final int capacity;

		private final List<Entry> entries = new ArrayList<>(1);

		private int size;

		private @Nullable Future<?> next;

		private long nextTime;

		private Batch(LockBackend backend) {
			this.backend = backend;
			this.capacity = backend.renewedTogether();
		}

		private synchronized boolean isFull() {
			return this.size >= this.capacity;
		}

		private synchronized Entry add(HeldLease lease) {
			this.size++;
			Entry entry = new Entry(this, lease);
			this.entries.add(entry);
			return entry;
		}

		/**
		 * Those that are due about the same time are renewed together at the earliest.
		 */
		private synchronized void schedule(Entry entry, long delay) {
			if (entry.lease.isStopped()) {
				return;
			}
			entry.due = System.nanoTime() + delay;
			entry.waiting = true;
			if (this.next == null || entry.due - this.nextTime < 0) {
				if (this.next != null) {
					this.next.cancel(false);
				}
				this.nextTime = entry.due;
				this.next = LockRenewal.this.schedule(entry.lease.key(), this, this::end, delay);
			}
		}

		/**
		 * Note that a lease has stopped. The last one in the queue stays there until its
		 * time has come: to a queue that is empty, the next lease would wake a thread.
		 */
		private synchronized void stopped() {
			if (this.next != null && isOver() && LockRenewal.this.timer.getQueue().size() > 1) {
				this.next.cancel(false);
			}
		}

		private boolean isOver() {
			for (Entry entry : this.entries) {
				if (!entry.lease.isStopped()) {
					return false;
				}
			}
			return true;
		}

		/**
		 * When the first of those runs out that are to be renewed.
		 */
		private synchronized long end() {
			long now = System.nanoTime();
			return now + this.entries.stream()
				.filter((entry) -> entry.waiting && !entry.lease.isStopped())
				.mapToLong((entry) -> entry.lease.end() - now)
				.min()
				.orElse(0);
		}

		@Override
		public void run() {
			List<HeldLease> due = takeDue();
			due.removeIf((lease) -> !lease.beginRenewal());
			try {
				Map<Duration, List<HeldLease>> times = new LinkedHashMap<>();
				for (HeldLease lease : due) {
					Duration time = lease.timeToRenew();
					if (time != null) {
						times.computeIfAbsent(time, (key) -> new ArrayList<>(due.size())).add(lease);
					}
				}
				times.forEach(this::renew);
			}
			finally {
				due.forEach(HeldLease::endRenewal);
			}
		}

		private synchronized List<HeldLease> takeDue() {
			if (this.next != null) {
				this.next.cancel(false);
				this.next = null;
			}
			this.entries.removeIf((entry) -> entry.lease.isStopped());
			long now = System.nanoTime();
			List<HeldLease> due = new ArrayList<>(this.entries.size());
			for (Entry entry : this.entries) {
				if (entry.waiting && entry.due - now <= entry.lease.leaseNanos() / 10) {
					entry.waiting = false;
					due.add(entry.lease);
				}
			}
			this.entries.stream().filter((entry) -> entry.waiting).forEach((entry) -> schedule(entry, entry.due - now));
			return due;
		}

		private void renew(Duration time, List<HeldLease> leases) {
			if (leases.size() == 1) {
				leases.get(0).renew(time);
				return;
			}
			try {
				Iterator<CompletionStage<Boolean>> answers = this.backend
					.renewAll(leases.stream().map(HeldLease::lease).toList(), time)
					.iterator();
				leases.forEach((lease) -> lease.renewed(answers.next()));
			}
			catch (RuntimeException | Error ex) {
				leases.forEach((lease) -> lease.notRenewed(ex));
			}
		}

	}

	/**
	 * The renewals of one lease. Safe for use by many threads.
	 */
	static final class Entry {

		private final Batch batch;

		private final HeldLease lease;

		/** Whether the next time is {@link #due}; guarded by the batch. */
		private boolean waiting;

		private long due;

		private Entry(Batch batch, HeldLease lease) {
			this.batch = batch;
			this.lease = lease;
		}

		/**
		 * Renew the lease after some time, unless it has stopped.
		 */
		void schedule(long delay) {
			this.batch.schedule(this, delay);
		}

		/**
		 * Note that the lease has stopped.
		 */
		void stopped() {
			this.batch.stopped();
		}

	}

}
