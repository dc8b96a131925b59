package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.zaxxer.hikari.HikariDataSource;

import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * Lets virtual threads wait for one lock, and says how many got it and how many threads
 * of the platform there were. Its argument names the backend.
 */
final class VirtualThreadWorker {

	private VirtualThreadWorker() {
	}

	public static void main(String[] args) throws Exception {
		int waiters = Integer.parseInt(args[1]);
		HikariDataSource dataSource = new DatabaseAccess("jdbc:h2:mem:virtual;DB_CLOSE_DELAY=-1", "sa", "")
			.dataSource(10);
		DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-h2.sql");
		LockBackend backend = args[0].equals("local") ? new LocalLockBackend() : new JdbcLockBackend(() -> dataSource);
		try (LockManager manager = new LockManager(backend)) {
			run(new LockTemplate(manager).withWaitTime(Duration.ofMinutes(10)), waiters);
		}
		System.exit(0);
	}

	@SuppressWarnings("try")
	private static void run(LockTemplate locks, int waiters) throws Exception {
		ExecutorService executor = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
			.invoke(null);
		List<Future<?>> calls = new ArrayList<>();
		int[] counter = new int[1];
		CountDownLatch running = new CountDownLatch(waiters);
		try (LockTemplate.Scope held = locks.acquire("key")) {
			for (int i = 0; i < waiters; i++) {
				calls.add(executor.submit(() -> {
					running.countDown();
					locks.run("key", () -> counter[0]++);
				}));
			}
			running.await();
			System.out.println("THREADS " + Thread.getAllStackTraces().size());
		}
		for (Future<?> call : calls) {
			call.get();
		}
		System.out.println("FINISHED " + counter[0]);
	}

}
