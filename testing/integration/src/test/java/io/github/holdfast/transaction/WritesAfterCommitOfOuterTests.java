package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.event.TransactionalEventListenerFactory;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What callbacks write after the commit of a transaction to whose end its locks are kept
 * is committed before they end, although Spring cleans up the connection later.
 */
@Tag("F51")
@Timeout(300)
class WritesAfterCommitOfOuterTests {

	private static final int CALLS = 50;

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "H2,true", "H2,false", "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void locksAreKeptUntilTheyAreCommitted(TestDatabase database, boolean inRedis) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port())) {
			proxy.delay(Duration.ofMillis(1));
			application(access.onPort(proxy.port()), inRedis)
				.withPropertyValues("holdfast.on-active-transaction=release-after-completion")
				.withUserConfiguration(Config.class)
				.run((context) -> {
					Stock stock = context.getBean(Stock.class);
					stock.create();
					Caller caller = context.getBean(Caller.class);
					takeInParallel(caller);
					assertThat(stock.quantity()).isEqualTo(1000 - 2 * CALLS);
				});
		}
	}

	private ApplicationContextRunner application(DatabaseAccess access, boolean inRedis) {
		return inRedis
				? RedisStore.REDIS.application(access, this.redis.port())
					.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always")
				: LockedApplication.jdbc(access);
	}

	private static void takeInParallel(Caller caller) {
		ExecutorService executor = Executors.newFixedThreadPool(4);
		try {
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				calls.add(CompletableFuture.runAsync(caller::take, executor));
			}
			CompletableFuture.allOf(calls.toArray(new CompletableFuture<?>[0])).orTimeout(120, TimeUnit.SECONDS).join();
		}
		finally {
			executor.shutdownNow();
		}
	}

	private record Taken() {
	}

	@Configuration(proxyBeanMethods = false)
	static class Config {

		@Bean
		Stock stock(JdbcTemplate jdbc, ApplicationEventPublisher events) {
			return new Stock(jdbc, events);
		}

		@Bean
		Caller caller(Stock stock) {
			return new Caller(stock);
		}

		@Bean
		static TransactionalEventListenerFactory transactionalEventListenerFactory() {
			return new TransactionalEventListenerFactory();
		}

	}

	static class Caller {

		private final Stock stock;

		Caller(Stock stock) {
			this.stock = stock;
		}

		@Transactional
		public void take() {
			this.stock.takeTwice();
		}

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		private final ApplicationEventPublisher events;

		Stock(JdbcTemplate jdbc, ApplicationEventPublisher events) {
			this.jdbc = jdbc;
			this.events = events;
		}

		void create() {
			this.jdbc.execute("CREATE TABLE stock (quantity integer)");
			this.jdbc.update("INSERT INTO stock VALUES (1000)");
		}

		@DistributedLock(key = "'A'", waitTime = "60s")
		@Transactional
		public void takeTwice() {
			takeOne();
			this.events.publishEvent(new Taken());
		}

		@TransactionalEventListener
		public void taken(Taken event) {
			takeOne();
		}

		private void takeOne() {
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity() - 1);
		}

		int quantity() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

	}

}
