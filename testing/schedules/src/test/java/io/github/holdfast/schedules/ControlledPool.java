package io.github.holdfast.schedules;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * An executor whose threads are those of a run, and whose tasks can be compared.
 */
public final class ControlledPool extends ThreadPoolExecutor {

	private final Jobs jobs;

	/**
	 * Create an executor.
	 * @param core is not used
	 * @param threads how many threads it has at most
	 * @param keepAlive is not used
	 * @param unit is not used
	 * @param queue is not used
	 * @param factory is not used
	 */
	public ControlledPool(int core, int threads, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue,
			ThreadFactory factory) {
		super(0, threads, keepAlive, unit, queue, factory);
		this.jobs = new Jobs(threads, Comparator.comparing((Jobs.Job job) -> comparable(job.task)));
	}

	@SuppressWarnings("unchecked")
	private static Comparable<Object> comparable(Runnable task) {
		return (Comparable<Object>) task;
	}

	@Override
	public void execute(Runnable task) {
		this.jobs.add(task, 0);
	}

	@Override
	public void allowCoreThreadTimeOut(boolean value) {
		// Its threads end with the run
	}

	@Override
	public List<Runnable> shutdownNow() {
		return this.jobs.shutdownNow();
	}

}
