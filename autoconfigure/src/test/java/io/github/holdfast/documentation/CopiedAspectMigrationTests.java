package io.github.holdfast.documentation;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.documentation.CopiedAspect.Locked;
import io.github.holdfast.documentation.CopiedAspect.NewTransaction;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * The way from the copied aspect to Holdfast: before, during and after, in one
 * application.
 */
@Timeout(120)
class CopiedAspectMigrationTests {

	private final RedisServer redis = RedisServer.shared();

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
		.withPropertyValues("holdfast.backend=jdbc", "holdfast.lease-time=3s", "holdfast.wait-time=60s")
		.withBean(RedissonClient.class, () -> RedissonClients.single(this.redis.port()),
				(definition) -> definition.setDestroyMethodName("shutdown"))
		.withBean(NewTransaction.class)
		.withBean(CopiedAspect.class)
		.withBean(Stock.class)
		.withBean(Before.class)
		.withBean(During.class)
		.withBean(After.class);

	@Test
	void copiedAspectLosesAnUpdateWhenItsLeaseEnds() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			Before before = context.getBean(Before.class);
			CountDownLatch goOn = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture.supplyAsync(() -> before.deduct("A", 2));
			stock.paused.await();
			await().until(() -> this.redis.command("EXISTS", "stock:A").equals(0L));
			assertThat(before.deduct("A", 1)).isEqualTo(19);
			goOn.countDown();
			assertThatThrownBy(paused::get).isInstanceOf(ExecutionException.class)
				.hasCauseInstanceOf(IllegalMonitorStateException.class);
			assertThat(stock.available()).as("20 - 2 - 1 would be 17").isEqualTo(18);
		});
	}

	@Test
	void holdfastLosesNoneWhenItsLeaseTimePasses() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			After after = context.getBean(After.class);
			CountDownLatch goOn = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture.supplyAsync(() -> after.deduct("A", 2));
			stock.paused.await();
			CompletableFuture<Integer> next = CompletableFuture.supplyAsync(() -> after.deduct("A", 1));
			this.redis.command("SET", "leaseTime", "", "PX", "3500");
			await().until(() -> this.redis.command("EXISTS", "leaseTime").equals(0L));
			goOn.countDown();
			assertThat(paused.get()).isEqualTo(18);
			assertThat(next.get()).isEqualTo(17);
			assertThat(stock.available()).isEqualTo(17);
		});
	}

	@Test
	void copiedAspectCommitsAgainstItsCallerAndHoldfastRefuses() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			TransactionTemplate caller = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			caller.executeWithoutResult((status) -> {
				context.getBean(Before.class).deduct("A", 2);
				status.setRollbackOnly();
			});
			assertThat(stock.available()).as("the caller was rolled back").isEqualTo(18);
			assertThatThrownBy(
					() -> caller.executeWithoutResult((status) -> context.getBean(After.class).deduct("A", 2)))
				.isInstanceOf(IllegalStateException.class);
			assertThat(stock.available()).isEqualTo(18);
		});
	}

	@Test
	void bothLocksAreHeldForOneRelease() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			CountDownLatch goOn = stock.pauseNext();
			CompletableFuture<Integer> both = CompletableFuture
				.supplyAsync(() -> context.getBean(During.class).deduct("A", 2));
			stock.paused.await();
			CompletableFuture<Integer> next = CompletableFuture
				.supplyAsync(() -> context.getBean(After.class).deduct("A", 1));
			assertThat(context.getBean(RedissonClient.class).getLock("stock:A").isLocked()).isTrue();
			assertThat(next).isNotDone();
			goOn.countDown();
			assertThat(both.get()).isEqualTo(18);
			assertThat(next.get()).isEqualTo(17);
			assertThat(context.getBean(RedissonClient.class).getLock("stock:A").isLocked()).isFalse();
		});
	}

	/**
	 * What is read, and written after a while.
	 */
	static class Stock {

		private final JdbcClient jdbc;

		private final CountDownLatch paused = new CountDownLatch(1);

		private volatile CountDownLatch goOn = new CountDownLatch(0);

		Stock(DataSource dataSource) {
			this.jdbc = JdbcClient.create(dataSource);
			this.jdbc.sql("DROP TABLE IF EXISTS stock").update();
			this.jdbc.sql("CREATE TABLE stock (sku VARCHAR(20) PRIMARY KEY, available INT NOT NULL)").update();
			this.jdbc.sql("INSERT INTO stock VALUES ('A', 20)").update();
		}

		CountDownLatch pauseNext() {
			this.goOn = new CountDownLatch(1);
			return this.goOn;
		}

		int deduct(String sku, int quantity) {
			int left = this.jdbc.sql("SELECT available FROM stock WHERE sku = ?")
				.param(sku)
				.query(Integer.class)
				.single() - quantity;
			pause();
			this.jdbc.sql("UPDATE stock SET available = ? WHERE sku = ?").params(left, sku).update();
			return left;
		}

		private void pause() {
			CountDownLatch latch = this.goOn;
			this.goOn = new CountDownLatch(0);
			this.paused.countDown();
			try {
				assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		int available() {
			return this.jdbc.sql("SELECT available FROM stock").query(Integer.class).single();
		}

	}

	static class Before {

		private final Stock stock;

		Before(Stock stock) {
			this.stock = stock;
		}

		@Locked(key = "stock:", leaseTime = 1)
		public int deduct(String sku, int quantity) {
			return this.stock.deduct(sku, quantity);
		}

	}

	static class During {

		private final Stock stock;

		During(Stock stock) {
			this.stock = stock;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Locked(key = "stock:", leaseTime = 30)
		public int deduct(String sku, int quantity) {
			return this.stock.deduct(sku, quantity);
		}

	}

	static class After {

		private final Stock stock;

		After(Stock stock) {
			this.stock = stock;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public int deduct(String sku, int quantity) {
			return this.stock.deduct(sku, quantity);
		}

	}

}
