package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads of this library that do not keep the JVM alive and end when they have nothing
 * to do. The common pool is not used: the application may block all of its threads.
 *
 * @since 0.2.0
 */
public final class DaemonThreads {

	private static final long IDLE_SECONDS = 10;

	private static final ScheduledThreadPoolExecutor timer = scheduler("holdfast-timer", 1);

	private DaemonThreads() {
	}

	/**
	 * Do something later, on the one thread of all time-outs.
	 * @param time when, from now
	 * @param task what does not block
	 * @return the task, which can be cancelled
	 */
	public static Future<?> later(Duration time, Runnable task) {
		return timer.schedule(task, TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
	}

	/**
	 * Create threads for what may block.
	 * @param name what their names begin with
	 * @param threads how many there are at most
	 * @return runs tasks at their times
	 */
	public static ScheduledThreadPoolExecutor scheduler(String name, int threads) {
		AtomicInteger number = new AtomicInteger();
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(threads, (task) -> {
			Thread thread = new Thread(task, name + '-' + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		});
		executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

}
