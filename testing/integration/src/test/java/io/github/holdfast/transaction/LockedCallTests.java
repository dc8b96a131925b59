package io.github.holdfast.transaction;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Locked calls on each backend: their transactions, nested calls, and failures. */
@ExtendWith(OutputCaptureExtension.class)
class LockedCallTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void changesAreVisibleToAnotherConnectionWhenTheLockIsReleased(TestBackend backend) {
		DatabaseAccess access = backend.database().newDatabase();
		try (HikariDataSource observer = access.dataSource(1)) {
			List<Integer> seen = new CopyOnWriteArrayList<>();
			LeaseCalls calls = new LeaseCalls((call) -> {
				if (call.equals("release")) {
					seen.add(new JdbcTemplate(observer).queryForObject("SELECT quantity FROM stock WHERE sku = 'A'",
							Integer.class));
				}
			});
			backend.application(access)
				.withBean(LeaseCalls.class, () -> calls)
				.withBean(StockService.class)
				.run((context) -> context.getBean(StockService.class).take("A", () -> {
				}));
			assertThat(seen).containsExactly(99);
		}
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void callInsideAnOuterTransactionIsRefusedBeforeAnythingIsAcquired(TestBackend backend) {
		backend.application().withBean(LeaseCalls.class).withBean(StockService.class).run((context) -> {
			for (Isolation isolation : List.of(Isolation.READ_COMMITTED, Isolation.REPEATABLE_READ,
					Isolation.SERIALIZABLE)) {
				refused(context, isolation, true);
				refused(context, isolation, false);
			}
			assertThat(context.getBean(LeaseCalls.class).owners()).isEmpty();
			assertThat(context.getBean(StockService.class).quantity("A")).isEqualTo(100);
		});
	}

	private static void refused(ApplicationContext context, Isolation isolation, boolean readFirst) {
		StockService stock = context.getBean(StockService.class);
		TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		outer.setIsolationLevel(isolation.value());
		outer.executeWithoutResult((status) -> {
			if (readFirst) {
				assertThat(stock.quantity("A")).isEqualTo(100);
			}
			assertThatIllegalStateException().as("%s, read first: %s", isolation, readFirst)
				.isThrownBy(() -> stock.take("A", () -> {
				}))
				.withMessageContaining("Lock 'stock:A'")
				.withMessageContaining("inside a running transaction");
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(LockTemplate.class).acquire("A"));
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void nestedCallsOfSeveralMethodsShareOneLease(TestBackend backend) {
		backend.application().withBean(LeaseCalls.class).withBean(StockService.class).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			LeaseCalls calls = context.getBean(LeaseCalls.class);
			stock.withoutTransaction("A", () -> {
				long token = token();
				stock.take("A", () -> assertThat(token()).isEqualTo(token));
				assertThat(calls.count("release")).as("only the outermost call releases").isZero();
				assertBusyForOthers(context, "stock:A");
				stock.takeInNewTransaction("A", () -> assertThat(token()).isEqualTo(token));
			});
			assertThat(calls.owners()).hasSize(1);
			assertThat(calls.count("release")).isOne();
			assertThat(stock.quantity("A")).isEqualTo(98);
		});
	}

	/** Neither escaped keys nor hashed ones are taken for those that look like them. */
	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void keysThatLookAlikeInTheStoreAreDifferentLocks(TestBackend backend) {
		backend.application().withBean(LeaseCalls.class).run((context) -> {
			String common = "x".repeat(300);
			context.getBean(LockTemplate.class)
				.execute(List.of("a\n", "a%0A", "a%250A", common + "1", common + "2"), () -> null);
			assertThat(context.getBean(LeaseCalls.class).owners()).hasSize(5);
		});
	}

	/** A lock that could not be released is not taken for one that is still held. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void callAfterAFailedReleaseIsANewAcquisition(TestDatabase database) {
		TestBackend.valueOf(database.name())
			.application()
			.withBean(LeaseCalls.class)
			.withPropertyValues("holdfast.lease-time=4s", "holdfast.wait-time=60s")
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				LockTemplate locks = context.getBean(LockTemplate.class);
				ExecutorService pool = Executors.newSingleThreadExecutor();
				try {
					long[] tokens = new long[2];
					pool.submit(() -> locks.run("A", () -> {
						tokens[0] = token();
						jdbc.execute("ALTER TABLE holdfast_lock RENAME TO gone");
					})).get(60, TimeUnit.SECONDS);
					assertThat(jdbc.queryForObject(
							"SELECT count(*) FROM gone WHERE owner IS NOT NULL AND holder IS NOT NULL", Integer.class))
						.isOne();
					jdbc.execute("ALTER TABLE gone RENAME TO holdfast_lock");
					pool.submit(() -> locks.run("A", () -> tokens[1] = token())).get(60, TimeUnit.SECONDS);
					assertThat(tokens[1]).isGreaterThan(tokens[0]);
				}
				finally {
					pool.shutdownNow();
				}
				assertThat(context.getBean(LeaseCalls.class).owners()).hasSize(2).doesNotHaveDuplicates();
			});
	}

	private static void assertBusyForOthers(ApplicationContext context, String key) {
		LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
		CompletableFuture.runAsync(
				() -> assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> locks.acquire(key)))
			.join();
	}

	private static long token() {
		return LockContext.current().orElseThrow().fencingToken();
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void lockIsReleasedOnceAndTheFailureReachesTheCaller(TestBackend backend) {
		backend.application().withBean(LeaseCalls.class).withBean(Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			for (Throwable thrown : List.of(new IllegalStateException("body"), new IOException("body"),
					new OutOfMemoryError("body"))) {
				Body body = () -> {
					throw thrown;
				};
				assertThat(catchThrowable(() -> service.byDefaultRules(body))).isSameAs(thrown);
				assertOnlyOneRelease(context);
				assertThat(service.rows()).isEqualTo((thrown instanceof IOException) ? 1 : 0);
				assertThat(catchThrowable(() -> service.rollingBack(body))).isSameAs(thrown);
				assertOnlyOneRelease(context);
				assertThat(service.rows()).isEqualTo((thrown instanceof IOException) ? 1 : 0);
				assertThat(catchThrowable(() -> service.withoutTransaction(body))).isSameAs(thrown);
				assertOnlyOneRelease(context);
				service.clear();
			}
		});
	}

	/** The store is gone when the lock is to be released. */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void failureOfTheMethodReachesTheCallerWhenTheReleaseFailsToo(TestDatabase database, CapturedOutput output) {
		TestBackend.valueOf(database.name()).application().withBean(Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			IllegalStateException thrown = new IllegalStateException("body");
			assertThat(catchThrowable(() -> service.withoutTransaction(() -> {
				context.getBean(JdbcTemplate.class).execute("DROP TABLE holdfast_lock");
				throw thrown;
			}))).isSameAs(thrown);
			assertThat(LockContext.current()).isEmpty();
		});
		assertThat(output).contains("Lock 'holdfast:throwing' could not be released; it expires unless");
	}

	private static void assertOnlyOneRelease(ApplicationContext context) {
		LeaseCalls calls = context.getBean(LeaseCalls.class);
		assertThat(calls.count("release")).isEqualTo(1);
		assertThat(LockContext.current()).isEmpty();
		LockTemplate locks = context.getBean(LockTemplate.class);
		CompletableFuture.runAsync(() -> locks.acquire("throwing").close()).orTimeout(30, TimeUnit.SECONDS).join();
		calls.clear();
	}

	static class Service {

		private final JdbcTemplate jdbc;

		Service(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE work (id integer)");
		}

		void clear() {
			this.jdbc.update("DELETE FROM work");
		}

		int rows() {
			return this.jdbc.queryForObject("SELECT count(*) FROM work", Integer.class);
		}

		@DistributedLock(key = "'throwing'")
		@Transactional
		public void byDefaultRules(Body body) throws Throwable {
			insertAndCall(body);
		}

		@DistributedLock(key = "'throwing'")
		@Transactional(rollbackFor = Throwable.class)
		public void rollingBack(Body body) throws Throwable {
			insertAndCall(body);
		}

		@DistributedLock(key = "'throwing'")
		public void withoutTransaction(Body body) throws Throwable {
			insertAndCall(body);
		}

		private void insertAndCall(Body body) throws Throwable {
			this.jdbc.update("INSERT INTO work VALUES (1)");
			body.call();
		}

	}

	@FunctionalInterface
	interface Body {

		void call() throws Throwable;

	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void timedOutTransactionCannotCommitAtLease(TestBackend backend) {
		ApplicationContextRunner application = backend.application()
			.withPropertyValues("holdfast.commit-guard=lease")
			.withBean(StockService.class);
		application.run((context) -> {
			StockService stock = context.getBean(StockService.class);
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.setTimeout(1);
			assertThatExceptionOfType(TransactionTimedOutException.class)
				.isThrownBy(() -> locks.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
					long start = System.nanoTime();
					stock.writeWithoutTimeout("A", 1);
					Awaitility.await().until(() -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(1200));
					stock.write("A", 2);
				})));
			assertThat(stock.quantity("A")).isEqualTo(100);
			stock.take("A", () -> {
			});
			assertThat(stock.quantity("A")).as("the lock is free").isEqualTo(99);
		});
	}

}
