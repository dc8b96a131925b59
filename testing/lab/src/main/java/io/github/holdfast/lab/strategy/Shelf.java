package io.github.holdfast.lab.strategy;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Runs the statements of the strategies on {@code lab_stock}, and notes what they read
 * and wrote. It guards nothing.
 */
@NodeComponent
public class Shelf {

	private static final String NOTE = """
			INSERT INTO lab_order (sku, n, node, quantity, read_available, read_changes, wrote_available, wrote_changes)
			SELECT sku, ?, ?, ?, ?, ?, available, changes FROM lab_stock WHERE sku = ?""";

	private final JdbcClient jdbc;

	private final int node;

	Shelf(JdbcClient jdbc, @Value("${lab.node}") int node) {
		this.jdbc = jdbc;
		this.node = node;
	}

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
			.param(order.number())
			.param(this.node)
			.param(order.quantity())
			.param((read != null) ? read.available() : null)
			.param((read != null) ? read.changes() : null)
			.param(order.sku())
			.update();
		order.hasWritten(available(order));
		return true;
	}

	long available(Order order) {
		return this.jdbc.sql("SELECT available FROM lab_stock WHERE sku = ?")
			.param(order.sku())
			.query(Long.class)
			.single();
	}

	/**
	 * Counts the sales that an order would have overwritten.
	 * @return how many were committed since it read the stock, or {@code null} if it has
	 * not read it
	 */
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

}
