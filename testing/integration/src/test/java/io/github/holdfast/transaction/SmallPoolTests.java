package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * No call holds two connections, so that a small pool serves many threads.
 */
@Tag("F25")
class SmallPoolTests {

	private static final int THREADS = 32;

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void poolOfTwoServesManyThreads(TestDatabase database, LockPlace place) {
		place.application(database)
			.withBean(StockService.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2", "holdfast.wait-time=60s",
					"holdfast.commit-guard=fence")
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				ExecutorService executor = Executors.newFixedThreadPool(THREADS);
				try {
					List<Future<?>> calls = new ArrayList<>();
					for (int i = 0; i < THREADS; i++) {
						String sku = (i % 2 == 0) ? "A" : "B";
						calls.add(executor.submit(() -> stock.take(sku, () -> {
						})));
					}
					for (Future<?> call : calls) {
						call.get(120, TimeUnit.SECONDS);
					}
				}
				finally {
					executor.shutdownNow();
				}
				assertThat(stock.quantity("A")).isEqualTo(100 - THREADS / 2);
				assertThat(stock.quantity("B")).isEqualTo(100 - THREADS / 2);
			});
	}

	/**
	 * Half of the pool may wait in the database. All of these places are taken.
	 */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void freeKeyDoesNotWaitForThoseWhoWaitForOtherKeys(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		LockedApplication.jdbc(access)
			.withBean(StockService.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=4", "holdfast.wait-time=60s")
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				context.getBean(JdbcTemplate.class).update("INSERT INTO stock VALUES ('C', 100)");
				List<String> busy = List.of("A", "B");
				busy.forEach((sku) -> stock.take(sku, () -> {
				}));
				ExecutorService executor = Executors.newFixedThreadPool(busy.size());
				try (HikariDataSource other = access.dataSource(1)) {
					TransactionTemplate holder = new TransactionTemplate(new JdbcTransactionManager(other));
					List<Future<?>> calls = new ArrayList<>();
					// No gaps, into which the row of the free key has to be inserted
					holder.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
					holder.executeWithoutResult((status) -> {
						new JdbcTemplate(other).queryForList("SELECT epoch FROM holdfast_lock FOR UPDATE");
						busy.forEach((sku) -> calls.add(executor.submit(() -> stock.take(sku, () -> {
						}))));
						await().until(() -> context.getBean(HikariDataSource.class)
							.getHikariPoolMXBean()
							.getActiveConnections() == busy.size());
						stock.take("C", () -> {
						});
						assertThat(calls).noneMatch(Future::isDone);
					});
					for (Future<?> call : calls) {
						call.get(60, TimeUnit.SECONDS);
					}
				}
				finally {
					executor.shutdownNow();
				}
				assertThat(stock.quantity("C")).isEqualTo(99);
			});
	}

}
