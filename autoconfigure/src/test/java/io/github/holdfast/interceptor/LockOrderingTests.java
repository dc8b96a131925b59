package io.github.holdfast.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What is outside of the lock, and what is inside. */
class LockOrderingTests {

	private final ApplicationContextRunner application = LockedApplication.h2()
		.withPropertyValues("holdfast.backend=local")
		.withUserConfiguration(OtherAdvice.class)
		.withBean(Witness.class)
		.withBean(Service.class);

	@Test
	void transactionBeginsAndEndsInsideOfTheLock() {
		this.application.run((context) -> {
			context.getBean(Service.class).transactional();
			assertThat(context.getBean(Witness.class).seen).containsExactly("before: no transaction, 0 rows",
					"acquired: no transaction, 0 rows", "released: no transaction, 1 rows");
		});
	}

	@Test
	void transactionIsInsideOfTheLockWithoutAspectJ() {
		this.application.withClassLoader(new FilteredClassLoader("org.aspectj")).run((context) -> {
			context.getBean(Service.class).transactional();
			assertThat(context.getBean(Witness.class).seen).endsWith("released: no transaction, 1 rows");
		});
	}

	@Test
	void lockIsFreeAgainWhenTheTransactionRolledBack() {
		this.application.run((context) -> {
			Service service = context.getBean(Service.class);
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(service::rollingBack)
				.withMessage("roll back");
			assertThat(context.getBean(Witness.class).seen).endsWith("released: no transaction, 0 rows");
		});
	}

	@Test
	void cacheIsReadInsideOfTheLock() {
		this.application.run((context) -> {
			Service service = context.getBean(Service.class);
			service.cached("SKU-1");
			service.cached("SKU-1");
			assertThat(service.calls()).containsExactly("cached");
			assertThat(context.getBean(Witness.class).acquisitions()).isEqualTo(2);
		});
	}

	@Test
	void eachRetryTakesTheLockAgain() {
		this.application.run((context) -> {
			Service service = context.getBean(Service.class);
			assertThat(service.retried()).isEqualTo(3);
			assertThat(context.getBean(Witness.class).acquisitions()).isEqualTo(3);
		});
	}

	@Test
	void busyLockIsRetried() {
		this.application.withPropertyValues("holdfast.wait-time=0s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockTemplate.Scope holder = CompletableFuture.supplyAsync(() -> locks.acquire("retry")).get();
			Witness witness = context.getBean(Witness.class);
			witness.seen.clear();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(context.getBean(Service.class)::retried);
			assertThat(witness.seen).hasSize(4).allMatch((seen) -> seen.startsWith("before"));
			holder.close();
		});
	}

	@Test
	void asynchronousCallTakesTheLockOnItsOwnThread() {
		this.application.run((context) -> {
			CompletableFuture<String> thread = new CompletableFuture<>();
			context.getBean(Service.class).asynchronous(thread);
			assertThat(thread.get(10, TimeUnit.SECONDS)).isNotEqualTo(Thread.currentThread().getName())
				.startsWith("[async] ");
		});
	}

	@EnableCaching
	@EnableResilientMethods
	@EnableAsync
	@Configuration(proxyBeanMethods = false)
	static class OtherAdvice {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

	public static class Service {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		private final JdbcTemplate jdbc;

		public Service(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		public List<String> calls() {
			return this.calls;
		}

		@DistributedLock(key = "'transaction'")
		@Transactional
		public void transactional() {
			this.jdbc.update("INSERT INTO work VALUES (1)");
		}

		@DistributedLock(key = "'transaction'")
		@Transactional
		public void rollingBack() {
			transactional();
			throw new IllegalStateException("roll back");
		}

		@DistributedLock(key = "'cache'")
		@Cacheable("stock")
		public String cached(String sku) {
			this.calls.add("cached");
			return sku;
		}

		@DistributedLock(key = "'retry'")
		@Retryable(maxRetries = 3, delay = 1)
		public int retried() {
			this.calls.add("retried");
			if (this.calls.size() < 3) {
				throw new IllegalStateException("try again");
			}
			return this.calls.size();
		}

		@Async
		@DistributedLock(key = "'async'")
		public void asynchronous(CompletableFuture<String> thread) {
			thread.complete(LockContext.current().map(LockContext::keys).orElse(List.of()) + " "
					+ Thread.currentThread().getName());
		}

	}

	/** Looks at the database from outside of the transaction of the locked method. */
	static class Witness implements LockListener {

		private final List<String> seen = new ArrayList<>();

		private final JdbcTemplate jdbc;

		Witness(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE work (id integer)");
		}

		long acquisitions() {
			return this.seen.stream().filter((text) -> text.startsWith("acquired")).count();
		}

		@Override
		public void onAttempt(Call call) {
			look("before");
		}

		@Override
		public void onAcquired(Call call, Duration waitTime) {
			look("acquired");
		}

		@Override
		public void onReleased(Call call, Outcome outcome, Duration holdTime) {
			look("released");
		}

		private void look(String moment) {
			Integer rows = this.jdbc.queryForObject("SELECT count(*) FROM work", Integer.class);
			this.seen.add(moment + ": "
					+ (TransactionSynchronizationManager.isActualTransactionActive() ? "transaction" : "no transaction")
					+ ", " + rows + " rows");
		}

	}

}
