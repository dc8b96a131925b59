package io.github.holdfast.migration;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.migration.CopiedAspect.Locked;
import io.github.holdfast.migration.CopiedAspect.NewTransaction;
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
		.withBean(Hurried.class)
		.withBean(During.class)
		.withBean(After.class);

	@Test
	void copiedAspectLosesAnUpdateWhenItsLeaseEnds() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			Hurried hurried = context.getBean(Hurried.class);
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture.supplyAsync(() -> hurried.deduct("A", 2));
			pause.awaitBegin();
			await().until(() -> this.redis.command("EXISTS", "stock:A").equals(0L));
			assertThat(context.getBean(Before.class).deduct("A", 1)).isEqualTo(19);
			pause.end();
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
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture.supplyAsync(() -> after.deduct("A", 2));
			pause.awaitBegin();
			CompletableFuture<Integer> next = CompletableFuture.supplyAsync(() -> after.deduct("A", 1));
			this.redis.command("SET", "leaseTime", "", "PX", "3500");
			await().until(() -> this.redis.command("EXISTS", "leaseTime").equals(0L));
			pause.end();
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
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> both = CompletableFuture
				.supplyAsync(() -> context.getBean(During.class).deduct("A", 2));
			pause.awaitBegin();
			CompletableFuture<Integer> next = CompletableFuture
				.supplyAsync(() -> context.getBean(After.class).deduct("A", 1));
			assertThat(context.getBean(RedissonClient.class).getLock("stock:A").isLocked()).isTrue();
			assertThat(next).isNotDone();
			pause.end();
			assertThat(both.get()).isEqualTo(18);
			assertThat(next.get()).isEqualTo(17);
			assertThat(context.getBean(RedissonClient.class).getLock("stock:A").isLocked()).isFalse();
		});
	}

	static class Before {

		private final Stock stock;

		Before(Stock stock) {
			this.stock = stock;
		}

		@Locked(key = "stock:", leaseTime = 30)
		public int deduct(String sku, int quantity) {
			return this.stock.deduct(sku, quantity);
		}

	}

	/**
	 * Its lease ends before a paused method.
	 */
	static class Hurried {

		private final Stock stock;

		Hurried(Stock stock) {
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
