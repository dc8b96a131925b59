package io.github.holdfast.schedules;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * An executor whose threads and times are those of a run.
 */
public final class ControlledTimer extends ScheduledThreadPoolExecutor {

	private final Jobs jobs;

	/**
	 * Create an executor.
	 * @param threads how many threads it has at most
	 * @param factory is not used
	 */
	public ControlledTimer(int threads, ThreadFactory factory) {
		super(0, factory);
		this.jobs = new Jobs(threads,
				Comparator.comparingLong((Jobs.Job job) -> job.time).thenComparingLong((job) -> job.number));
	}

	@Override
	public void execute(Runnable task) {
		this.jobs.add(task, 0);
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
		return this.jobs.add(task, Math.max(0, unit.toNanos(delay)));
	}

	@Override
	@SuppressWarnings("unchecked")
	public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
		return (ScheduledFuture<V>) schedule((Runnable) () -> {
			try {
				task.call();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}, delay, unit);
	}

	@Override
	public void allowCoreThreadTimeOut(boolean value) {
		// Its threads end with the run
	}

	@Override
	public BlockingQueue<Runnable> getQueue() {
		return (this.jobs != null) ? this.jobs.queue() : super.getQueue();
	}

	@Override
	public List<Runnable> shutdownNow() {
		return this.jobs.shutdownNow();
	}

}
