package io.github.holdfast.testsupport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** Work on threads of its own, which do not keep the JVM from its end. */
public final class Threads {

	private Threads() {
	}

	public static <T extends @Nullable Object> FutureTask<T> start(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		Thread thread = new Thread(task, "test");
		thread.setDaemon(true);
		thread.start();
		return task;
	}

	/** Runs work on several threads, which begin together, and returns all results. */
	public static <T extends @Nullable Object> List<T> together(int threads, Work<T> work) throws Exception {
		CountDownLatch start = new CountDownLatch(threads);
		List<FutureTask<T>> tasks = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			int thread = i;
			tasks.add(start(() -> {
				start.countDown();
				start.await();
				return work.run(thread);
			}));
		}
		List<T> results = new ArrayList<>();
		for (FutureTask<T> task : tasks) {
			results.add(task.get(3, TimeUnit.MINUTES));
		}
		return results;
	}

	@FunctionalInterface
	public interface Work<T extends @Nullable Object> {

		T run(int thread) throws Exception;

	}

}
