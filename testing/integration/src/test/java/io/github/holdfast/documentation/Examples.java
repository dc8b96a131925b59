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

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.HoldfastDataSource;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.store.HandoverLockBackend;

import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AliasFor;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the pages show.
 */
final class Examples {

	private Examples() {
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

	static class Templates {

		private final LockTemplate locks;

		private final TransactionTemplate transactions;

		Templates(LockTemplate locks, TransactionTemplate transactions) {
			this.locks = locks;
			this.transactions = transactions;
		}

		void run(String sku) {
			this.locks.run("stock:" + sku, () -> this.transactions.executeWithoutResult((status) -> status.flush()));

			try (LockTemplate.Scope scope = this.locks.withWaitTime(Duration.ZERO).acquire("nightly-report")) {
				assertThat(scope).isNotNull();
			}
		}

	}

	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(key = "'nightly-report'", waitTime = "0s", onBusy = OnBusy.SKIP, minHoldTime = "10m")
		public void report() {
		}

	}

	@DistributedLock(name = "stock", key = "", waitTime = "2s")
	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	public @interface StockLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String value();

	}

	static class Fenced {

		@Bean
		FenceTable fenceTable(DataSource dataSource) {
			return new FenceTable(() -> dataSource, "my-store");
		}

		@Bean
		RowFence fence(FenceTable table) {
			return table.fence();
		}

		@Bean
		LockBackend lockBackend(FenceTable table, RowFence fence) {
			LockBackend fenced = new FencedLockBackend(new MyLockBackend(), table);
			return new OptimisticLockBackend(new HandoverLockBackend(fenced), fence);
		}

	}

	static class MyLockBackend implements LockBackend {

		@Override
		public @Nullable LockLease acquire(LockRequest request) {
			return null;
		}

	}

	static class Databases {

		@Bean
		@HoldfastDataSource
		DataSource orders() {
			return new HikariDataSource();
		}

	}

	abstract static class Customers {

		private final CustomerMapper customers;

		Customers(CustomerMapper customers) {
			this.customers = customers;
		}

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

	abstract static class Callers {

		private final OneArgumentStock stock;

		private final StockRepository repository;

		private final StockService service;

		Callers(OneArgumentStock stock, StockRepository repository, StockService service) {
			this.stock = stock;
			this.repository = repository;
			this.service = service;
		}

		@Transactional
		public void confirmAll(List<String> skus) {
			skus.forEach(this.stock::deduct);
		}

		@PostMapping("/stock/{sku}/deductions")
		public int deduct(@PathVariable String sku) {
			Stock stock = this.repository.findById(sku).orElseThrow();
			return this.service.deduct(sku, 1);
		}

	}

	interface OneArgumentStock {

		void deduct(String sku);

	}

	interface StockRepository {

		Optional<Stock> findById(String sku);

	}

	record Stock(String sku) {

	}

	abstract static class Retries {

		@Retryable(includes = ConcurrencyFailureException.class)
		@DistributedLock(key = "'stock:' + #sku")
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
