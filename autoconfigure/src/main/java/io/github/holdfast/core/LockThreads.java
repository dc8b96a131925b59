package io.github.holdfast.core;

import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that do not keep the JVM alive and end when they have nothing to do. The common
 * pool is not used: the application may block all of its threads.
 */
final class LockThreads {

	private static final long IDLE_SECONDS = 10;

	private LockThreads() {
	}

	/**
	 * Create threads.
	 * @param name what their names begin with
	 * @param threads how many there are at most
	 * @return runs tasks at their times
	 */
	static ScheduledThreadPoolExecutor scheduler(String name, int threads) {
		return endWhenIdle(new ScheduledThreadPoolExecutor(threads, factory(name)));
	}

	/**
	 * Create threads.
	 * @param name what their names begin with
	 * @param threads how many there are at most
	 * @return runs tasks that can be compared, the least one first
	 */
	static ThreadPoolExecutor inOrder(String name, int threads) {
		return endWhenIdle(new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new PriorityBlockingQueue<>(), factory(name)));
	}

	private static ThreadFactory factory(String name) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, name + '-' + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

	private static <T extends ThreadPoolExecutor> T endWhenIdle(T executor) {
		executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

}
