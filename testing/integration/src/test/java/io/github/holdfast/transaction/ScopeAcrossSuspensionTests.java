package io.github.holdfast.transaction;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A scope that is opened while the transaction of the caller is suspended, and used in
 * that transaction, which commits after its end.
 */
@Tag("F52")
@Timeout(180)
class ScopeAcrossSuspensionTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@EnumSource
	void scopeIsUsedOutsideOfATransaction(TestDatabase database) {
		application(database).run((context) -> {
			context.getBean(Caller.class).takeWithoutTransaction();
			assertThat(context.getBean(StockService.class).quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource
	void transactionThatCommitsAfterTheScopeIsRefused(TestDatabase database) {
		application(database).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			AcknowledgedSales sales = new AcknowledgedSales();
			Throwable refusal = sales.sell(1, () -> context.getBean(Caller.class)
				.take(() -> assertThat(sales.sellMeanwhile(1, () -> stock.take("A", () -> {
				}))).isNull()));
			sales.assertNoneIsLostIn(stock.quantity("A"));
			assertThat(refusal).isInstanceOf(RuntimeException.class).hasMessageContaining("Lock 'stock:A'");
		});
	}

	private ApplicationContextRunner application(TestDatabase database) {
		return RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always")
			.withBean(StockService.class)
			.withBean(Locks.class)
			.withBean(Caller.class);
	}

	static class Locks {

		private final LockTemplate template;

		Locks(LockTemplate template) {
			this.template = template;
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public LockTemplate.Scope lock(String sku) {
			return this.template.acquire("stock:" + sku);
		}

	}

	static class Caller {

		private final Locks locks;

		private final StockService stock;

		Caller(Locks locks, StockService stock) {
			this.locks = locks;
			this.stock = stock;
		}

		@Transactional
		@SuppressWarnings("try")
		public void take(Runnable afterTheScope) {
			int quantity;
			try (LockTemplate.Scope scope = this.locks.lock("A")) {
				quantity = this.stock.quantity("A");
			}
			afterTheScope.run();
			this.stock.write("A", quantity - 1);
		}

		@SuppressWarnings("try")
		public void takeWithoutTransaction() {
			try (LockTemplate.Scope scope = this.locks.lock("A")) {
				this.stock.write("A", this.stock.quantity("A") - 1);
			}
		}

	}

}
