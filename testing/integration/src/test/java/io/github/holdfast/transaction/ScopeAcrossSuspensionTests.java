package io.github.holdfast.transaction;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

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

	/**
	 * There is nothing in it that the lock could protect.
	 */
	@Test
	void transactionWithoutSqlCommitsAfterTheScope() {
		application(TestDatabase.H2).withUserConfiguration(WithQueue.class).run((context) -> {
			QueueTransactionManager queue = context.getBean(QueueTransactionManager.class);
			TransactionTemplate outside = new TransactionTemplate(queue);
			outside.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
			LockTemplate locks = context.getBean(LockTemplate.class);
			StockService stock = context.getBean(StockService.class);
			new TransactionTemplate(queue).executeWithoutResult((status) -> {
				LockTemplate.Scope scope = outside.execute((suspended) -> locks.acquire("stock:A"));
				stock.write("A", stock.quantity("A") - 1);
				scope.close();
			});
			assertThat(stock.quantity("A")).isEqualTo(99);
			assertThat(queue.commits).isOne();
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

	@Configuration(proxyBeanMethods = false)
	static class WithQueue {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		QueueTransactionManager queue() {
			return new QueueTransactionManager();
		}

	}

	/**
	 * Can be suspended.
	 */
	static class QueueTransactionManager extends ActiveTransactionTests.QueueTransactionManager {

		private static final long serialVersionUID = 1L;

		private boolean running;

		private int commits;

		@Override
		protected boolean isExistingTransaction(Object transaction) {
			return this.running;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.running = true;
		}

		@Override
		protected Object doSuspend(Object transaction) {
			this.running = false;
			return "the session";
		}

		@Override
		protected void doResume(@Nullable Object transaction, Object suspended) {
			this.running = true;
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.commits++;
		}

	}

}
