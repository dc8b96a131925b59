package io.github.holdfast.lab.strategy;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Runs the statements of the strategies on {@code lab_stock}, and notes what they read
 * and wrote. It guards nothing.
 */
@NodeComponent
record Shelf(JdbcClient jdbc, @Value("${lab.node}") int node) {

	private static final String NOTE = """
			INSERT INTO lab_order (sku, n, node, quantity, read_available, read_changes, wrote_available, wrote_changes)
			SELECT sku, ?, ?, ?, ?, ?, available, changes FROM lab_stock WHERE sku = ?""";

	/** Reads the stock of an order, and then does the order's work. */
	public Stock read(Order order, String sql) {
		Stock stock = this.jdbc.sql(sql).param(order.sku()).query(Stock.class).single();
		order.hasRead(stock);
		order.work();
		return stock;
	}

	/** Changes the stock, and notes the order as sold, both in the same transaction. */
	public boolean write(Order order, String sql, Object... parameters) {
		if (this.jdbc.sql(sql).params(parameters).update() == 0) {
			return false;
		}
		Stock read = order.read();
		this.jdbc.sql(NOTE)
			.params(order.number(), this.node, order.quantity(), (read != null) ? read.available() : null,
					(read != null) ? read.changes() : null, order.sku())
			.update();
		order.hasWritten(available(order));
		return true;
	}

	/** Does the order's work, and subtracts its pieces, however many there are. */
	boolean subtract(Order order) {
		order.work();
		return write(order, "UPDATE lab_stock SET available = available - ? WHERE sku = ?", order.quantity(),
				order.sku());
	}

	long available(Order order) {
		return this.jdbc.sql("SELECT available FROM lab_stock WHERE sku = ?")
			.param(order.sku())
			.query(Long.class)
			.single();
	}

	/** How many were sold since an order read the stock, if it has read it. */
	public @Nullable Long overtakenBy(Order order) {
		Stock read = order.read();
		if (read == null) {
			return null;
		}
		return this.jdbc.sql("SELECT changes FROM lab_stock WHERE sku = ?")
			.param(order.sku())
			.query(Long.class)
			.single() - read.changes();
	}

	/**
	 * The row of an SKU in {@code lab_stock}.
	 *
	 * @param version counts the changes, where a strategy does so
	 * @param changes counts all changes, by a trigger; by this the lab finds lost updates
	 */
	public record Stock(long available, long version, long changes) {
	}

}
