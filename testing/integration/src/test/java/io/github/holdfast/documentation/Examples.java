package io.github.holdfast.documentation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.Client;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import tools.jackson.databind.node.ObjectNode;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.HoldfastDataSource;
import io.github.holdfast.store.etcd.EtcdLockBackend;

import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AliasFor;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;

import static org.assertj.core.api.Assertions.assertThat;

/** The code that the pages contain. */
final class Examples {

	private Examples() {
	}

	abstract static class LockAspect {

		private final RedissonClient redisson;

		private final NewTransaction newTransaction;

		LockAspect(RedissonClient redisson, NewTransaction newTransaction) {
			this.redisson = redisson;
			this.newTransaction = newTransaction;
		}

		@Around("@annotation(locked)")
		public Object lock(ProceedingJoinPoint call, Locked locked) throws Throwable {
			RLock lock = this.redisson.getLock(key(call, locked));
			if (!lock.tryLock(locked.waitTime(), locked.leaseTime(), TimeUnit.SECONDS)) {
				return false;
			}
			try {
				return this.newTransaction.proceed(call); // REQUIRES_NEW
			}
			finally {
				lock.unlock();
			}
		}

		abstract String key(ProceedingJoinPoint call, Locked locked);

	}

	interface NewTransaction {

		Object proceed(ProceedingJoinPoint call) throws Throwable;

	}

	@interface Locked {

		long waitTime();

		long leaseTime();

	}

	abstract static class Reservations {

		@DistributedLock(key = "'stock:' + #sku", condition = "#quantity > 0")
		@Transactional
		public void reserve(String sku, int quantity) {
			LockContext.assertHeld("stock:" + sku);
		}

	}

	abstract static class Busy {

		@DistributedLock(key = "'report:' + #day", waitTime = "0s", onBusy = OnBusy.SKIP)
		public Optional<Report> report(LocalDate day) {
			return Optional.of(new Report(day));
		}

		@DistributedLock(key = "'quote:' + #sku", waitTime = "200ms", fallbackMethod = "lastQuote")
		public Quote quote(String sku) {
			return new Quote(BigDecimal.TEN);
		}

		public Quote lastQuote(String sku, LockNotAcquiredException busy) {
			return new Quote(BigDecimal.ONE);
		}

	}

	record Report(LocalDate day) {

	}

	record Quote(BigDecimal price) {

	}

	record Templates(LockTemplate locks, TransactionTemplate transactions) {

		void run(String sku) {
			this.locks.run("stock:" + sku, () -> this.transactions.executeWithoutResult((status) -> status.flush()));

			try (LockTemplate.Scope scope = this.locks.withWaitTime(Duration.ZERO).acquire("nightly-report")) {
				assertThat(scope).isNotNull();
			}
		}

	}

	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(name = "nightly-report", key = "'nightly-report'", waitTime = "0s", onBusy = OnBusy.SKIP,
				minHoldTime = "10m")
		@Transactional
		public void nightlyReport() {
		}

	}

	@DistributedLock(name = "stock", key = "", waitTime = "2s")
	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	public @interface StockLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String value();

	}

	@EnableMethodSecurity
	@EnableTransactionManagement(order = 450)
	static class Security {

	}

	static class Databases {

		@Bean
		@HoldfastDataSource
		DataSource orders() {
			return new HikariDataSource();
		}

	}

	static class ZooKeeper {

		@Bean(initMethod = "start", destroyMethod = "close")
		CuratorFramework curator() {
			return CuratorFrameworkFactory.newClient("zk1.example.org:2181,zk2.example.org:2181",
					new ExponentialBackoffRetry(100, 3));
		}

	}

	static class Etcd {

		@Bean(destroyMethod = "close")
		Client etcd() {
			return EtcdLockBackend.clientBuilder().endpoints("http://etcd.example.org:2379").build();
		}

	}

	record Redisson(RedissonClient redisson, TransactionTemplate transactions, StockService stock) {

		boolean isLocked(String sku) {
			RLock lock = this.redisson.getLock("holdfast:stock:" + sku);
			return lock.isLocked();
		}

		@DistributedLock("'stock:' + #sku")
		public int deductWithBoth(String sku, int quantity) {
			RLock lock = this.redisson.getLock("old-stock:" + sku);
			lock.lock();
			try {
				return this.transactions.execute((status) -> this.stock.deduct(sku, quantity));
			}
			finally {
				lock.unlock();
			}
		}

	}

	record Customers(CustomerMapper customers) {

		@DistributedLock(key = "'customer:' + #id", mode = LockMode.OPTIMISTIC)
		@Transactional
		public void addPreference(String id, String name, String value) {
			ObjectNode preferences = this.customers.readPreferences(id); // a JSON column
			preferences.put(name, value);
			this.customers.writePreferences(id, preferences);
		}

	}

	interface CustomerMapper {

		ObjectNode readPreferences(String id);

		void writePreferences(String id, ObjectNode preferences);

	}

	record Callers(LockedStock stock, StockRepository repository, StockService service) {

		@Transactional
		public void confirmAll(List<String> skus) {
			skus.forEach((sku) -> this.stock.deduct(sku, 1)); // rejected
		}

		@DistributedLock("#skus.!['stock:' + #this]")
		@Transactional
		public void confirmAllLocked(List<String> skus) {
			skus.forEach((sku) -> this.stock.deduct(sku, 1));
		}

		@PostMapping("/stock/{sku}/deductions")
		public int deduct(@PathVariable String sku) {
			Stock stock = this.repository.findById(sku).orElseThrow();
			return this.service.deduct(sku, 1);
		}

		@DistributedLock("'stock:' + #stock.sku")
		@Transactional
		public void deductLoaded(Stock stock, int quantity) {
			stock.setAvailable(stock.getAvailable() - quantity);
			this.repository.save(stock);
		}

	}

	interface LockedStock {

		void deduct(String sku, int quantity);

	}

	interface StockRepository {

		Optional<Stock> findById(String sku);

		void save(Stock stock);

	}

	interface Stock {

		String getSku();

		int getAvailable();

		void setAvailable(int available);

	}

	abstract static class Retries {

		@Retryable(includes = ConcurrencyFailureException.class)
		@DistributedLock("'stock:' + #sku")
		@Transactional
		public int deduct(String sku, int quantity) {
			return quantity;
		}

	}

	abstract static class Tests {

		void isHeld() {
			assertThat(LockContext.current())
				.hasValueSatisfying((lock) -> assertThat(lock.keys()).containsExactly("stock:A"));
		}

	}

}
