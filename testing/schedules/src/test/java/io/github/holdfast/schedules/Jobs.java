package io.github.holdfast.schedules;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The queue and the threads of an executor, under the schedule. An executor that lives
 * longer than a run begins each of them anew.
 */
final class Jobs {

	private final int mostThreads;

	private final Comparator<Job> order;

	private final List<Job> queue = new ArrayList<>();

	private @Nullable Run run;

	private int threads;

	private int idle;

	private long number;

	private boolean shutDown;

	/**
	 * Create a queue.
	 * @param mostThreads how many threads there are at most
	 * @param order which one of those that are due is the first
	 */
	Jobs(int mostThreads, Comparator<Job> order) {
		this.mostThreads = mostThreads;
		this.order = order;
	}

	Job add(Runnable task, long nanos) {
		Task current = Worker.currentTask();
		if (current == null) {
			throw new IllegalStateException("No schedule on this thread");
		}
		current.run.point();
		Run run = current.run;
		if (this.run != run) {
			this.run = run;
			this.queue.clear();
			this.threads = 0;
			this.idle = 0;
			this.shutDown = false;
		}
		if (this.shutDown) {
			throw new RejectedExecutionException("Shut down");
		}
		Job job = new Job(task, run.now() + Math.min(nanos, Task.NEVER / 4), this.number++);
		this.queue.add(job);
		if (this.idle == 0 && this.threads < this.mostThreads) {
			this.threads++;
			run.add("worker" + this.mostThreads + "-" + this.threads, true, () -> work(run));
		}
		return job;
	}

	private void work(Run run) {
		while (true) {
			this.idle++;
			run.block(() -> this.shutDown || due(run) != null, this::nextTime);
			this.idle--;
			if (this.shutDown) {
				return;
			}
			Job job = due(run);
			if (job != null) {
				this.queue.remove(job);
				job.run();
			}
		}
	}

	private @Nullable Job due(Run run) {
		return this.queue.stream().filter((job) -> job.time <= run.now()).min(this.order).orElse(null);
	}

	private long nextTime() {
		return this.queue.stream().mapToLong((job) -> job.time).min().orElse(Task.NEVER);
	}

	List<Runnable> shutdownNow() {
		Hooks.point();
		List<Runnable> left = List.copyOf(this.queue);
		this.queue.clear();
		this.shutDown = true;
		return left;
	}

	BlockingQueue<Runnable> queue() {
		Hooks.point();
		return new LinkedBlockingQueue<>(this.queue);
	}

	/**
	 * Something to do at a time.
	 */
	final class Job implements RunnableScheduledFuture<Object> {

		final Runnable task;

		final long time;

		final long number;

		private final CompletableFuture<Object> result = new CompletableFuture<>();

		private Job(Runnable task, long time, long number) {
			this.task = task;
			this.time = time;
			this.number = number;
		}

		@Override
		public void run() {
			try {
				this.task.run();
				this.result.complete(this);
			}
			catch (Abort ex) {
				throw ex;
			}
			catch (Throwable ex) {
				this.result.completeExceptionally(ex);
			}
		}

		@Override
		public boolean cancel(boolean mayInterrupt) {
			Hooks.point();
			return Jobs.this.queue.remove(this) && this.result.cancel(false);
		}

		@Override
		public boolean isCancelled() {
			return this.result.isCancelled();
		}

		@Override
		public boolean isDone() {
			return this.result.isDone();
		}

		@Override
		public Object get() {
			return Hooks.join(this.result);
		}

		@Override
		public Object get(long timeout, TimeUnit unit) {
			return get();
		}

		@Override
		public boolean isPeriodic() {
			return false;
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return unit.convert(this.time - Hooks.nanoTime(), TimeUnit.NANOSECONDS);
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
		}

	}

}
