package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A method of propagation {@code SUPPORTS} has read something, and keeps its connection
 * until its end; only a transaction that begins meanwhile lets it go.
 */
@Timeout(180)
class SupportsTests {

	private static final int POOL = 4;

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "H2, true", "MARIADB, true", "MARIADB, false", "POSTGRESQL, false" })
	void asManyCallsAsConnectionsDoNotWaitForEachOther(TestDatabase database, boolean autoCommit) {
		RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"holdfast.wait-time=60s", "spring.datasource.hikari.maximum-pool-size=" + POOL,
					"spring.datasource.hikari.connection-timeout=15000",
					"spring.datasource.hikari.auto-commit=" + autoCommit)
			.withBean(Stock.class)
			.withBean(Reader.class)
			.run((context) -> {
				Stock stock = context.getBean(Stock.class);
				stock.create();
				Reader reader = context.getBean(Reader.class);
				CyclicBarrier allHaveRead = new CyclicBarrier(POOL);
				ExecutorService requests = Executors.newFixedThreadPool(POOL);
				try {
					List<CompletableFuture<Void>> calls = new ArrayList<>();
					for (int i = 0; i < POOL; i++) {
						int sku = i;
						calls.add(CompletableFuture.runAsync(() -> reader.readThenTake(sku, allHaveRead), requests));
					}
					assertThat(CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))).succeedsWithin(120,
							TimeUnit.SECONDS);
				}
				finally {
					requests.shutdownNow();
				}
				assertThat(stock.sum()).isEqualTo(100 * POOL - POOL);
			});
	}

	static class Reader {

		private final Stock stock;

		Reader(Stock stock) {
			this.stock = stock;
		}

		@Transactional(propagation = Propagation.SUPPORTS, readOnly = true)
		public void readThenTake(int sku, CyclicBarrier allHaveRead) {
			this.stock.sum();
			try {
				allHaveRead.await(60, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			this.stock.take(sku);
		}

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		Stock(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		public void create() {
			this.jdbc.execute("CREATE TABLE stock (sku integer PRIMARY KEY, quantity integer NOT NULL)");
			for (int sku = 0; sku < POOL; sku++) {
				this.jdbc.update("INSERT INTO stock VALUES (?, 100)", sku);
			}
		}

		@DistributedLock(key = "#sku")
		@Transactional
		public void take(int sku) {
			this.jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = ?", sku);
		}

		public int sum() {
			Integer sum = this.jdbc.queryForObject("SELECT sum(quantity) FROM stock", Integer.class);
			return (sum != null) ? sum : -1;
		}

	}

}
