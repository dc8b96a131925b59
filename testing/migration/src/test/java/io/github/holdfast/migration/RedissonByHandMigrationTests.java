package io.github.holdfast.migration;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * The way from Redisson's locks in service code to Holdfast, with the locks in the same
 * Redis: before, during and after, in one application.
 */
@Timeout(120)
class RedissonByHandMigrationTests {

	private final RedisServer redis = RedisServer.shared();

	private final ApplicationContextRunner node = LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
		.withPropertyValues("holdfast.backend=redisson", "holdfast.fence.initialize-schema=always",
				"holdfast.wait-time=60s")
		.withBean(RedissonClient.class, () -> RedissonClients.single(this.redis.port()),
				(definition) -> definition.setDestroyMethodName("shutdown"))
		.withBean(Stock.class)
		.withBean(Before.class)
		.withBean(BeforeInside.class)
		.withBean(During.class)
		.withBean(After.class);

	@Test
	void unlockBeforeTheCommitLosesAnUpdate() {
		this.node.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			BeforeInside before = context.getBean(BeforeInside.class);
			Stock.Pause pause = stock.pauseNextCommit();
			CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> before.deduct("A", 2));
			pause.awaitBegin();
			CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> before.deduct("A", 1));
			await().until(() -> stock.reads() == 2);
			pause.end();
			assertThat(first.get()).isEqualTo(18);
			assertThat(second.get()).isEqualTo(19);
			assertThat(stock.available()).as("20 - 2 - 1 would be 17").isEqualTo(19);
		});
	}

	@Test
	void holdfastUnlocksAfterTheCommit() {
		this.node.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			After after = context.getBean(After.class);
			Stock.Pause pause = stock.pauseNextCommit();
			CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> after.deduct("A", 2));
			pause.awaitBegin();
			assertThatThrownBy(() -> context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO).acquire("stock:A"))
				.isInstanceOf(LockNotAcquiredException.class);
			CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> after.deduct("A", 1));
			pause.end();
			assertThat(first.get()).isEqualTo(18);
			assertThat(second.get()).isEqualTo(17);
			assertThat(stock.available()).isEqualTo(17);
		});
	}

	@Test
	void lockThatRedisHasLostLosesAnUpdate() {
		this.node.run((context) -> this.node.run((otherContext) -> {
			Stock stock = context.getBean(Stock.class);
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture
				.supplyAsync(() -> context.getBean(Before.class).deduct("A", 2));
			pause.awaitBegin();
			this.redis.command("FLUSHALL");
			assertThat(otherContext.getBean(Before.class).deduct("A", 1)).isEqualTo(19);
			pause.end();
			assertThatThrownBy(paused::get).isInstanceOf(ExecutionException.class)
				.hasCauseInstanceOf(IllegalMonitorStateException.class);
			assertThat(stock.available()).as("it is committed, and 20 - 2 - 1 would be 17").isEqualTo(18);
		}));
	}

	@Test
	void holdfastRollsBackAHolderWhoseLockRedisHasLost() {
		this.node.run((context) -> this.node.run((otherContext) -> {
			Stock stock = context.getBean(Stock.class);
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture
				.supplyAsync(() -> context.getBean(After.class).deduct("A", 2));
			pause.awaitBegin();
			this.redis.command("FLUSHALL");
			assertThat(otherContext.getBean(After.class).deduct("A", 1)).isEqualTo(19);
			pause.end();
			assertThatThrownBy(paused::get).isInstanceOf(ExecutionException.class)
				.hasCauseInstanceOf(LockLostException.class);
			assertThat(stock.available()).isEqualTo(19);
		}));
	}

	@Test
	void bothLocksAreHeldForOneRelease() {
		this.node.run((context) -> {
			RLock old = context.getBean(RedissonClient.class).getLock("stock:A");
			LockTemplate locks = context.getBean("holdfastLockTemplate", LockTemplate.class)
				.withWaitTime(Duration.ZERO);
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Integer> both = CompletableFuture
				.supplyAsync(() -> context.getBean(During.class).deduct("A", 2));
			pause.awaitBegin();
			assertThat(old.tryLock()).isFalse();
			assertThatThrownBy(() -> locks.acquire("stock:A")).isInstanceOf(LockNotAcquiredException.class);
			pause.end();
			assertThat(both.get()).isEqualTo(18);
			assertThat(context.getBean(Before.class).deduct("A", 1)).isEqualTo(17);
			assertThat(context.getBean(After.class).deduct("A", 1)).isEqualTo(16);
		});
	}

	static class Before {

		private final RedissonClient redisson;

		private final TransactionTemplate transactions;

		private final Stock stock;

		Before(RedissonClient redisson, TransactionTemplate transactions, Stock stock) {
			this.redisson = redisson;
			this.transactions = transactions;
			this.stock = stock;
		}

		public int deduct(String sku, int quantity) {
			RLock lock = this.redisson.getLock("stock:" + sku);
			lock.lock();
			try {
				return this.transactions.execute((status) -> this.stock.deduct(sku, quantity));
			}
			finally {
				lock.unlock();
			}
		}

	}

	static class BeforeInside {

		private final RedissonClient redisson;

		private final Stock stock;

		BeforeInside(RedissonClient redisson, Stock stock) {
			this.redisson = redisson;
			this.stock = stock;
		}

		@Transactional
		public int deduct(String sku, int quantity) {
			RLock lock = this.redisson.getLock("stock:" + sku);
			lock.lock();
			try {
				return this.stock.deduct(sku, quantity);
			}
			finally {
				lock.unlock(); // the transaction commits later
			}
		}

	}

	static class During {

		private final RedissonClient redisson;

		private final TransactionTemplate transactions;

		private final Stock stock;

		During(RedissonClient redisson, TransactionTemplate transactions, Stock stock) {
			this.redisson = redisson;
			this.transactions = transactions;
			this.stock = stock;
		}

		@DistributedLock(key = "'stock:' + #sku")
		public int deduct(String sku, int quantity) {
			RLock lock = this.redisson.getLock("stock:" + sku);
			lock.lock();
			try {
				return this.transactions.execute((status) -> this.stock.deduct(sku, quantity));
			}
			finally {
				lock.unlock();
			}
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
