package io.github.holdfast.migration;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.exception.LockFailureException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * The way from Lock4j on Redisson to Holdfast: before, during and after, in one
 * application with the auto-configuration of both.
 */
@Tag("long")
@Timeout(120)
class Lock4jMigrationTests {

	private final RedisServer redis = RedisServer.shared();

	private final ApplicationContextRunner application = application(TestDatabase.POSTGRESQL.newDatabase());

	private ApplicationContextRunner application(DatabaseAccess database) {
		return new ApplicationContextRunner().withUserConfiguration(Application.class)
			.withPropertyValues("spring.datasource.url=" + database.url(),
					"spring.datasource.username=" + database.user(),
					"spring.datasource.password=" + database.password(), "spring.data.redis.host=127.0.0.1",
					"spring.data.redis.port=" + this.redis.port(), "holdfast.backend=redisson",
					"holdfast.fence.initialize-schema=always", "lock4j.acquire-timeout=60000");
	}

	@Test
	void lock4jLosesAnUpdateWhenItsLeaseEnds() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			Before before = context.getBean(Before.class);
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture.supplyAsync(() -> before.deduct("A", 2));
			pause.awaitBegin();
			await().until(() -> this.redis.command("EXISTS", "lock4j:stock#A").equals(0L));
			assertThat(before.deduct("A", 1)).isEqualTo(19);
			pause.end();
			assertThat(paused.get()).as("nobody is told").isEqualTo(18);
			assertThat(stock.available()).as("20 - 2 - 1 would be 17").isEqualTo(18);
		});
	}

	@Test
	void lock4jUnlocksBeforeItsCallerCommitsAndHoldfastRefuses() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			Before before = context.getBean(Before.class);
			TransactionTemplate caller = context.getBean(TransactionTemplate.class);
			CompletableFuture<Integer> other = caller.execute((status) -> {
				before.deduct("A", 2);
				CompletableFuture<Integer> next = CompletableFuture.supplyAsync(() -> before.deduct("A", 1));
				await().until(() -> stock.reads() == 2);
				return next;
			});
			assertThat(other.get()).isEqualTo(19);
			assertThat(stock.available()).as("20 - 2 - 1 would be 17").isEqualTo(19);
			After after = context.getBean(After.class);
			assertThatThrownBy(() -> caller.execute((status) -> after.deduct("A", 2)))
				.isInstanceOf(IllegalStateException.class);
			assertThat(stock.available()).isEqualTo(19);
		});
	}

	@Test
	void severalKeysOfLock4jAreOneLockAndThoseOfHoldfastAreOneEach() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Void> paused = CompletableFuture
				.runAsync(() -> context.getBean(Before.class).move("A", "B"));
			pause.awaitBegin();
			assertThat(context.getBean(Before.class).deduct("A", 1)).as("is not locked").isEqualTo(19);
			pause.end();
			paused.get();
			Stock.Pause nextPause = stock.pauseNext();
			CompletableFuture<Void> next = CompletableFuture
				.runAsync(() -> context.getBean(After.class).move("A", "B"));
			nextPause.awaitBegin();
			assertThatThrownBy(() -> context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO).acquire("stock:A"))
				.isInstanceOf(LockNotAcquiredException.class);
			nextPause.end();
			next.get();
		});
	}

	@Test
	void bothLocksAreHeldForOneRelease() {
		this.application.withPropertyValues("lock4j.acquire-timeout=0").run((context) -> {
			assertThat(context).hasBean("lockTemplate").hasBean("lockInterceptor").hasBean("holdfastLockTemplate");
			LockTemplate locks = context.getBean("holdfastLockTemplate", LockTemplate.class)
				.withWaitTime(Duration.ZERO);
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Integer> both = CompletableFuture
				.supplyAsync(() -> context.getBean(During.class).deduct("A", 2));
			pause.awaitBegin();
			assertThatThrownBy(() -> context.getBean(Before.class).deduct("A", 1))
				.isInstanceOf(LockFailureException.class);
			assertThatThrownBy(() -> locks.acquire("stock:A")).isInstanceOf(LockNotAcquiredException.class);
			pause.end();
			assertThat(both.get()).isEqualTo(18);
			assertThat(context.getBean(Before.class).deduct("A", 1)).isEqualTo(17);
			assertThat(context.getBean(After.class).deduct("A", 1)).isEqualTo(16);
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Stock.class, Before.class, During.class, After.class })
	static class Application {

	}

	static class Before {

		private final Stock stock;

		Before(Stock stock) {
			this.stock = stock;
		}

		@Lock4j(name = "stock", keys = "#sku", expire = 1000)
		@Transactional
		public int deduct(String sku, int quantity) {
			return this.stock.deduct(sku, quantity);
		}

		@Lock4j(name = "stock", keys = { "#from", "#to" })
		@Transactional
		public void move(String from, String to) {
			this.stock.deduct(from, 1);
		}

	}

	static class During {

		private final Stock stock;

		During(Stock stock) {
			this.stock = stock;
		}

		@Lock4j(name = "stock", keys = "#sku")
		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
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

		@DistributedLock(key = "{'stock:' + #from, 'stock:' + #to}")
		@Transactional
		public void move(String from, String to) {
			this.stock.deduct(from, 1);
		}

	}

}
