package io.github.holdfast.lab.strategy;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The row of the lock is looked for, inserted and deleted by the transaction that changes
 * the stock, so nobody else ever sees it; and whoever looks first goes on to read the
 * stock as it was then. Its owner is a thread, of whose name each node has one.
 */
@NodeComponent
class LockRowInTransaction implements Strategy {

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final StockService stock;

	LockRowInTransaction(JdbcClient jdbc, TransactionTemplate transaction, StockService stock) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		while (true) {
			try {
				return Boolean.TRUE.equals(this.transaction.execute((status) -> sellLocked(order)));
			}
			catch (BusyException | DuplicateKeyException | CannotAcquireLockException ex) {
				order.waitOrGiveUp();
			}
		}
	}

	private boolean sellLocked(Order order) {
		String key = "stock:" + order.sku();
		String owner = Thread.currentThread().getName();
		if (!this.jdbc.sql("SELECT holder FROM lab_lock WHERE lock_key = ?")
			.param(key)
			.query()
			.listOfRows()
			.isEmpty()) {
			throw new BusyException("The lock was busy");
		}
		this.jdbc.sql("INSERT INTO lab_lock VALUES (?, ?)").params(key, owner).update();
		order.acquired();
		boolean sold = this.stock.deduct(order); // in the same transaction
		this.jdbc.sql("DELETE FROM lab_lock WHERE lock_key = ? AND holder = ?").params(key, owner).update();
		return sold;
	}

}
