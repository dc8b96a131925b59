package io.github.holdfast.sample.wms;

import java.util.function.Supplier;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What happens to the database behind the application's back.
 */
final class LockDatabase {

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	LockDatabase(JdbcTemplate jdbc, PlatformTransactionManager transactions) {
		this.jdbc = jdbc;
		this.transactions = new TransactionTemplate(transactions);
		this.transactions.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
	}

	/**
	 * Does something while nobody else can write the rows of a customer's stock.
	 */
	<T> T whileStockIsLocked(String customerNo, Supplier<T> action) {
		return this.transactions.execute((transaction) -> {
			this.jdbc.update("update tb_inventory set version = version where customer_no = ?", customerNo);
			return action.get();
		});
	}

	boolean isAnyLockHeld() {
		return Boolean.TRUE.equals(this.transactions.execute((transaction) -> this.jdbc
			.queryForObject("select count(*) > 0 from holdfast_lock where owner is not null", Boolean.class)));
	}

	void endLeases() {
		this.transactions.executeWithoutResult((transaction) -> this.jdbc
			.update("update holdfast_lock set owner = null, epoch = epoch + 1 where owner is not null"));
	}

	void hideLockTable() {
		this.jdbc.execute("alter table holdfast_lock rename to holdfast_lock_gone");
	}

	void showLockTable() {
		this.jdbc.execute("alter table holdfast_lock_gone rename to holdfast_lock");
	}

}
