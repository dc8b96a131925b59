package io.github.holdfast.transaction;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The body of a template with {@code REQUIRES_NEW}, called inside of a transaction, reads
 * what is committed, and not what that transaction has seen before.
 */
@Timeout(180)
class TemplateInNewTransactionTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@EnumSource
	void bodyWithoutTransactionOfItsOwnReadsWhatIsCommitted(TestDatabase database) {
		run(database, (caller, takeMeanwhile) -> caller.readByTemplate(takeMeanwhile));
	}

	@ParameterizedTest
	@EnumSource
	void bodyThatReadsInItsOwnTransactionReadsWhatIsCommitted(TestDatabase database) {
		run(database, (caller, takeMeanwhile) -> caller.readInOwnTransaction(takeMeanwhile));
	}

	private void run(TestDatabase database, Sale sale) {
		RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always")
			.withBean(StockService.class)
			.withBean(Writer.class)
			.withBean(Caller.class)
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				AcknowledgedSales sales = new AcknowledgedSales();
				assertThat(sales.sell(1, () -> sale.run(context.getBean(Caller.class),
						() -> assertThat(sales.sellMeanwhile(1, () -> stock.take("A", () -> {
						}))).isNull())))
					.isNull();
				sales.assertNoneIsLostIn(stock.quantity("A"));
			});
	}

	private interface Sale {

		void run(Caller caller, Runnable takeMeanwhile);

	}

	static class Writer {

		private final StockService stock;

		Writer(StockService stock) {
			this.stock = stock;
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void write(int quantity) {
			this.stock.write("A", quantity);
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void takeOne() {
			this.stock.write("A", this.stock.quantity("A") - 1);
		}

	}

	/**
	 * Its transactions have their snapshot before the lock is taken.
	 */
	static class Caller {

		private final LockTemplate locks;

		private final JdbcTemplate jdbc;

		private final StockService stock;

		private final Writer writer;

		Caller(LockTemplate locks, JdbcTemplate jdbc, StockService stock, Writer writer) {
			this.locks = locks.withPropagation(Propagation.REQUIRES_NEW);
			this.jdbc = jdbc;
			this.stock = stock;
			this.writer = writer;
		}

		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void readByTemplate(Runnable afterTheFirstRead) {
			readFirst();
			afterTheFirstRead.run();
			this.locks.run("stock:A", () -> this.writer.write(this.stock.quantity("A") - 1));
		}

		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void readInOwnTransaction(Runnable afterTheFirstRead) {
			readFirst();
			afterTheFirstRead.run();
			this.locks.run("stock:A", this.writer::takeOne);
		}

		private void readFirst() {
			this.jdbc.queryForObject("SELECT count(*) FROM stock", Integer.class);
		}

	}

}
