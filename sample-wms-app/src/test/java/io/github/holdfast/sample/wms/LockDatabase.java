package io.github.holdfast.sample.wms;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
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

	/**
	 * How many orders a customer has.
	 */
	long orders(String customerNo) {
		return Objects.requireNonNull(this.jdbc
			.queryForObject("select count(*) from outbound_order where customer_no = ?", Long.class, customerNo));
	}

	/**
	 * How many pieces each buyer has of a SKU.
	 */
	Map<String, Integer> bought(String customerNo, String sku) {
		Map<String, Integer> bought = new TreeMap<>();
		this.jdbc.query("select buyer_no, quantity from purchase where customer_no = ? and sku = ?", (row) -> {
			bought.merge(row.getString(1), row.getInt(2), Integer::sum);
		}, customerNo, sku);
		return bought;
	}

	/**
	 * Who has taken a lock and may still commit.
	 */
	Set<String> owners() {
		return Set.copyOf(this.transactions.execute((transaction) -> this.jdbc
			.queryForList("select owner from holdfast_lock where owner is not null", String.class)));
	}

	/**
	 * Lets the next holders write their rows before their transaction begins: one that
	 * claims its row needs one that is there.
	 */
	void forgetFreeLocks() {
		this.transactions.executeWithoutResult((transaction) -> this.jdbc.update("delete from holdfast_lock"));
	}

	/**
	 * What the database looks like once others have the locks.
	 */
	void endLeases() {
		this.transactions.executeWithoutResult((transaction) -> this.jdbc.update(
				"update holdfast_lock set owner = null, epoch = epoch + 1, expires_at = 0 where owner is not null"));
	}

	void hideTable() {
		this.jdbc.execute("alter table holdfast_lock rename to holdfast_lock_gone");
	}

	void showTable() {
		this.jdbc.execute("alter table holdfast_lock_gone rename to holdfast_lock");
	}

}
