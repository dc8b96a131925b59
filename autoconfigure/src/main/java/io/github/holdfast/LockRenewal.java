package io.github.holdfast;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extends leases at a third of their time while their holders run. Those of one call are
 * extended together if the store can do that in one round trip. A few threads serve all
 * leases, so that one statement that hangs does not stall the others; the one that runs
 * out first comes first. Without leases there are no threads.
 */
final class LockRenewal implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private static final int THREADS = 4;

	private static final Duration SHORTEST_RENEWAL = Duration.ofMillis(1);

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
	 * @return the renewal of the call
	 */
	Call call(LockBackend backend) {
		return new Call(backend);
	}

	private static long nanos(Duration duration) {
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
	 * The renewals of the leases of one call.
	 */
	final class Call {

		private final LockBackend backend;

		private @Nullable Batch last;

		private Call(LockBackend backend) {
			this.backend = backend;
		}

		/**
		 * Prepare to renew a lease.
		 * @param key the key as the caller gave it
		 * @param lease the lease
		 * @param settings the times of the lock
		 * @return the renewal, which is to be started
		 */
		Task task(String key, LockLease lease, LockSettings settings) {
			return new Task(this, key, lease, settings);
		}

		/**
		 * Not called by two threads at a time, as a call acquires its locks by one.
		 */
		private Batch batch() {
			Batch batch = this.last;
			if (batch == null || batch.isFull()) {
				batch = new Batch(this.backend);
				this.last = batch;
			}
			return batch;
		}

	}

	/**
	 * Leases of one call that are renewed together.
	 */
	private final class Batch implements Runnable {

		private final LockBackend backend;

		private final int capacity;

		private final List<Task> tasks = new ArrayList<>(1);

		private int size;

		private @Nullable Future<?> next;

		private long nextTime;

		private Batch(LockBackend backend) {
			this.backend = backend;
			this.capacity = backend.renewedTogether();
		}

		synchronized boolean isFull() {
			return this.size >= this.capacity;
		}

		synchronized void start(Task task, long delay) {
			this.size++;
			this.tasks.add(task);
			schedule(task, delay);
		}

		/**
		 * Those that are due about the same time are renewed together at the earliest.
		 */
		synchronized void schedule(Task task, long delay) {
			if (task.stopped) {
				return;
			}
			task.due = System.nanoTime() + delay;
			task.waiting = true;
			if (this.next == null || task.due - this.nextTime < 0) {
				if (this.next != null) {
					this.next.cancel(false);
				}
				this.nextTime = task.due;
				this.next = LockRenewal.this.schedule(task.key, this, this::end, delay);
			}
		}

		/**
		 * The last one in the queue stays there until its time has come: to a queue that
		 * is empty, the next lease would wake a thread.
		 */
		synchronized void stopped() {
			if (this.next != null && this.tasks.stream().allMatch((each) -> each.stopped)
					&& LockRenewal.this.timer.getQueue().size() > 1) {
				this.next.cancel(false);
			}
		}

		/**
		 * When the first of those runs out that are to be renewed.
		 */
		private synchronized long end() {
			long now = System.nanoTime();
			return now + this.tasks.stream()
				.filter((task) -> task.waiting && !task.stopped)
				.mapToLong((task) -> task.end - now)
				.min()
				.orElse(0);
		}

		@Override
		public void run() {
			List<Task> due = takeDue();
			due.removeIf((task) -> !task.beginRenewal());
			try {
				Map<Duration, List<Task>> times = new LinkedHashMap<>();
				for (Task task : due) {
					Duration time = task.timeToRenew();
					if (time != null) {
						times.computeIfAbsent(time, (key) -> new ArrayList<>(due.size())).add(task);
					}
				}
				times.forEach(this::renew);
			}
			finally {
				due.forEach((task) -> task.renewing.unlock());
			}
		}

		private synchronized List<Task> takeDue() {
			if (this.next != null) {
				this.next.cancel(false);
				this.next = null;
			}
			this.tasks.removeIf((task) -> task.stopped);
			long now = System.nanoTime();
			List<Task> due = new ArrayList<>(this.tasks.size());
			for (Task task : this.tasks) {
				if (task.waiting && task.due - now <= nanos(task.leaseTime) / 10) {
					task.waiting = false;
					due.add(task);
				}
			}
			this.tasks.stream().filter((task) -> task.waiting).forEach((task) -> schedule(task, task.due - now));
			return due;
		}

		private void renew(Duration time, List<Task> tasks) {
			if (tasks.size() == 1) {
				tasks.get(0).renew(time);
				return;
			}
			try {
				Iterator<CompletionStage<Boolean>> answers = this.backend
					.renewAll(tasks.stream().map((task) -> task.lease).toList(), time)
					.iterator();
				tasks.forEach((task) -> task.answered(answers.next()));
			}
			catch (RuntimeException | Error ex) {
				tasks.forEach((task) -> task.failed(ex));
			}
		}

	}

	/**
	 * The renewal of one lease.
	 */
	final class Task {

		private final Call call;

		private final String key;

		private final LockLease lease;

		private final Duration leaseTime;

		private final @Nullable Duration maxHoldTime;

		private final long start = System.nanoTime();

		/** An answer that comes late must not replace the time of a later request. */
		private final ReentrantLock renewing = new ReentrantLock();

		private volatile @Nullable Batch batch;

		private volatile boolean stopped;

		/** Whether the time of the next renewal is {@link #due}; guarded by the batch. */
		private boolean waiting;

		private long due;

		/** When the lease runs out, more or less. */
		private volatile long end;

		private Task(Call call, String key, LockLease lease, LockSettings settings) {
			this.call = call;
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
				this.end = System.nanoTime() + nanos(remaining);
				Batch batch = this.call.batch();
				this.batch = batch;
				batch.start(this, Math.max(0, Math.min(third, nanos(remaining) - 2 * third)));
			}
		}

		void stop() {
			this.stopped = true;
			Batch batch = this.batch;
			if (batch != null) {
				batch.stopped();
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
		 * Keep others from renewing, unless one does so. That is the last time, or one of
		 * those that were due before has to wait for its answer.
		 */
		private boolean beginRenewal() {
			boolean begun = this.renewing.tryLock();
			if (!begun) {
				schedule(nanos(this.leaseTime) / 10);
			}
			return begun;
		}

		/**
		 * Not before it is known whether the lease is passed on.
		 */
		private synchronized boolean isStopped() {
			return this.stopped;
		}

		/**
		 * The time since the lock was acquired.
		 */
		Duration held() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

		/**
		 * The time to ask for, or {@code null} if the lease is not to be renewed any
		 * more. What is left of a maximum is cut to milliseconds, so that those who began
		 * about the same time are renewed together.
		 */
		private @Nullable Duration timeToRenew() {
			if (this.stopped || this.maxHoldTime == null) {
				return this.stopped ? null : this.leaseTime;
			}
			Duration left = this.maxHoldTime.minus(held());
			if (left.compareTo(SHORTEST_RENEWAL) < 0) {
				logger.warn("Lock {} is no longer renewed, as it is held for longer than its maximum of {} ms", key(),
						this.maxHoldTime.toMillis());
				return null;
			}
			return (left.compareTo(this.leaseTime) < 0) ? left.truncatedTo(ChronoUnit.MILLIS) : this.leaseTime;
		}

		private void renew(Duration time) {
			try {
				answered(this.lease.renew(time));
			}
			catch (RuntimeException | Error ex) {
				failed(ex);
			}
		}

		private void answered(CompletionStage<Boolean> answer) {
			try {
				answered(answer.toCompletableFuture().join().booleanValue());
			}
			catch (CompletionException ex) {
				failed((ex.getCause() != null) ? ex.getCause() : ex);
			}
		}

		private void answered(boolean renewed) {
			if (renewed) {
				this.end = System.nanoTime() + nanos(this.leaseTime);
				schedule(nanos(this.leaseTime) / 3);
			}
			else if (!isStopped()) {
				logger.warn("Lock {} was lost after {} ms: the store has given it to another holder or freed it", key(),
						held().toMillis());
			}
		}

		private void failed(Throwable failure) {
			logger.warn("Lock {} could not be renewed, trying again; it is provably ours for {}", key(),
					this.lease.remaining(), failure);
			schedule(nanos(this.leaseTime) / 10);
		}

		private void schedule(long delay) {
			Batch batch = this.batch;
			if (batch != null) {
				batch.schedule(this, delay);
			}
		}

		private String key() {
			return LockException.quote(this.key);
		}

	}

}
