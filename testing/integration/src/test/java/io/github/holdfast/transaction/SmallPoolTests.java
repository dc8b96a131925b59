package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

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

}
