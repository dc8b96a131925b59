package io.github.holdfast;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that do not keep the JVM alive and end when they have nothing to do. The common
 * pool is not used: the application may block all of its threads.
 */
final class LockThreads {

	private LockThreads() {
	}

	/**
	 * Create threads.
	 * @param name what their names begin with
	 * @param threads how many there are at most
	 * @return runs tasks at their times
	 */
	static ScheduledThreadPoolExecutor scheduler(String name, int threads) {
		AtomicInteger number = new AtomicInteger();
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(threads, (task) -> {
			Thread thread = new Thread(task, name + '-' + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		});
		executor.setKeepAliveTime(10, TimeUnit.SECONDS);
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

}
