package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Ten thousand virtual threads wait for one lock on one carrier, which none may pin. */
@Tag("long")
class VirtualThreadTests {

	private static final int WAITERS = 10_000;

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	@BeforeEach
	void checkVersion() {
		assumeTrue(Runtime.version().feature() >= 21, "Virtual threads need a JDK 21 or later to run the tests");
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "H2" })
	void allWaitersFinishOnOneCarrier(TestBackend backend) throws Exception {
		try (ChildJvm child = ChildJvm.start(
				List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"),
				Worker.class, backend.hasLockTable() ? "jdbc" : "local", Integer.toString(WAITERS))) {
			assertThat(Integer.parseInt(child.await("THREADS ", PATIENCE))).as("threads of the platform")
				.isLessThan(50);
			assertThat(child.await("FINISHED ", PATIENCE)).isEqualTo(Integer.toString(WAITERS));
		}
	}

	/** Lets virtual threads wait for one lock of the backend that its argument names. */
	static final class Worker {

		private Worker() {
		}

		public static void main(String[] args) throws Exception {
			int waiters = Integer.parseInt(args[1]);
			HikariDataSource dataSource = new DatabaseAccess("jdbc:h2:mem:virtual;DB_CLOSE_DELAY=-1", "sa", "")
				.dataSource(10);
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-h2.sql");
			LockBackend backend = args[0].equals("local") ? new LocalLockBackend()
					: new JdbcLockBackend(() -> dataSource);
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

}
