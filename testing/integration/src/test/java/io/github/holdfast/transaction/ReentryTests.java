package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls for a key that the thread holds already, or held until a moment ago. */
class ReentryTests {

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

	/**
	 * An escaped key is not the key that looks like its escape, and a hashed one not the
	 * key that looks like its hash: none of these is a re-entry of another one.
	 */
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

	/**
	 * The thread of a pool must not take the lock that it could not release for one that
	 * it still holds.
	 */
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

}
