package io.github.holdfast.sample.wms;

import java.util.Locale;
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

	private final Table table;

	LockDatabase(JdbcTemplate jdbc, PlatformTransactionManager transactions, Table table) {
		this.jdbc = jdbc;
		this.table = table;
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
			.queryForList("select owner from " + this.table + " where owner is not null", String.class)));
	}

	/**
	 * Lets the next holders write their rows before their transaction begins: one that
	 * claims its row needs one that is there.
	 */
	void forgetFreeLocks() {
		this.transactions.executeWithoutResult((transaction) -> this.jdbc.update(this.table.forget));
	}

	/**
	 * What the database looks like once others have the locks.
	 */
	void endLeases() {
		this.transactions.executeWithoutResult((transaction) -> this.jdbc.update(this.table.end));
	}

	void hideTable() {
		this.jdbc.execute("alter table " + this.table + " rename to " + this.table + "_gone");
	}

	void showTable() {
		this.jdbc.execute("alter table " + this.table + "_gone rename to " + this.table);
	}

	/**
	 * The table that decides who may commit.
	 */
	enum Table {

		HOLDFAST_LOCK("update holdfast_lock set owner = null, epoch = epoch + 1 where owner is not null",
				"delete from holdfast_lock where owner is null"),

		HOLDFAST_FENCE("update holdfast_fence set epoch = epoch + 1", "delete from holdfast_fence");

		private final String end;

		private final String forget;

		Table(String end, String forget) {
			this.end = end;
			this.forget = forget;
		}

		static Table of(String backend) {
			return backend.equals("jdbc") ? HOLDFAST_LOCK : HOLDFAST_FENCE;
		}

		@Override
		public String toString() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

}
