package io.github.holdfast.benchmarks.contended;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/** A row whose quantity is read and then written: without a lock, deductions get lost. */
final class Stock {

	private static final long INITIAL = 1_000_000_000;

	private static final String TABLE = """
			create table if not exists stock (
				sku varchar(80) not null primary key,
				quantity bigint not null
			)
			""";

	private final JdbcTemplate jdbc;

	private final String select;

	Stock(JdbcTemplate jdbc, boolean forUpdate) {
		this.jdbc = jdbc;
		this.select = "select quantity from stock where sku = ?" + (forUpdate ? " for update" : "");
		jdbc.execute(TABLE);
	}

	void fill(String sku) {
		this.jdbc.update("insert into stock values (?, ?)", sku, INITIAL);
	}

	void deductOne(String sku) {
		int rows = this.jdbc.update("update stock set quantity = ? where sku = ?", quantity(sku) - 1, sku);
		Assert.state(rows == 1, "The row was not updated");
	}

	long deducted(String sku) {
		return INITIAL - quantity(sku);
	}

	long deductedOfAll(String prefix) {
		return this.jdbc.queryForObject("select sum(? - quantity) from stock where sku like ?", Long.class, INITIAL,
				prefix + "%");
	}

	private long quantity(String sku) {
		return this.jdbc.queryForObject(this.select, Long.class, sku);
	}

}
