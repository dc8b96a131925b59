package io.github.holdfast.lab.strategy;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One lock for all stock: a row that each transaction locks first, whatever it sells.
 */
@NodeComponent
class OneLockForAll implements Strategy {

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final StockService stock;

	OneLockForAll(JdbcClient jdbc, TransactionTemplate transaction, StockService stock) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			this.jdbc.sql("SELECT holder FROM lab_lock WHERE lock_key = 'stock' FOR UPDATE").query().singleRow();
			order.acquired();
			return this.stock.deduct(order); // in the same transaction
		}));
	}

}
