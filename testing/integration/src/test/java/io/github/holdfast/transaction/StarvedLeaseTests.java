package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.EnableTransactionManagement;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who takes a lease waits beside transactions of other nodes that lock the row of the
 * lock themselves, one right after the other. In the database these hand it on without a
 * moment in which it is free.
 */
@Tag("long")
@Timeout(600)
class StarvedLeaseTests {

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void templateIsServed(TestDatabase database) {
		run(database, (nodes) -> beside(nodes, Duration.ofMillis(20), () -> {
			LockTemplate template = nodes.get(2).getBean(LockTemplate.class).withWaitTime(Duration.ofSeconds(60));
			AtomicInteger served = new AtomicInteger();
			for (int i = 0; i < 5; i++) {
				template.run("stock", served::incrementAndGet);
			}
			assertThat(served).hasValue(5);
		}));
	}

	/**
	 * Eight threads of the first two nodes sell all the time.
	 */
	private static void beside(List<ApplicationContext> nodes, Duration each, Runnable test) {
		AtomicBoolean over = new AtomicBoolean();
		AtomicInteger sold = new AtomicInteger();
		List<CompletableFuture<Void>> sales = new ArrayList<>();
		for (ApplicationContext node : nodes.subList(0, 2)) {
			LockedShop shop = node.getBean(LockedShop.class);
			shop.take(() -> {
			});
			for (int thread = 0; thread < 4; thread++) {
				sales.add(CompletableFuture.runAsync(() -> {
					while (!over.get()) {
						shop.take(() -> sleep(each));
						sold.incrementAndGet();
					}
				}, (task) -> new Thread(task).start()));
			}
		}
		try {
			Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> sold.get() > 20);
			test.run();
		}
		finally {
			over.set(true);
			CompletableFuture.allOf(sales.toArray(CompletableFuture[]::new)).join();
		}
	}

	private static void sleep(Duration time) {
		try {
			TimeUnit.NANOSECONDS.sleep(time.toNanos());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void run(TestDatabase database, Scenario scenario) {
		ApplicationContextRunner application = LockedApplication.jdbc(database.newDatabase())
			.withUserConfiguration(Transactions.class)
			.withBean(LockedShop.class)
			.withPropertyValues("holdfast.wait-time=60s");
		application.run((first) -> {
			LockedShop.createTables(first.getBean(JdbcTemplate.class));
			application.run((second) -> application.run((third) -> scenario.run(List.of(first, second, third))));
		});
	}

	private interface Scenario {

		void run(List<ApplicationContext> nodes);

	}

	@EnableTransactionManagement
	static class Transactions {

	}

}
