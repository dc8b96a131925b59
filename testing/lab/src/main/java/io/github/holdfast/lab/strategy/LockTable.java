package io.github.holdfast.lab.strategy;

import java.util.UUID;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A row for each lock: inserted when it is missing, locked by the transaction that
 * changes the stock, with the name of the holder in it.
 */
@NodeComponent
class LockTable implements Strategy {

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final StockService stock;

	LockTable(JdbcClient jdbc, TransactionTemplate transaction, StockService stock) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		String holder = UUID.randomUUID().toString();
		if (this.jdbc.sql("SELECT 1 FROM lab_lock WHERE lock_key = ?").param(key).query().listOfRows().isEmpty()) {
			this.jdbc.sql("INSERT IGNORE INTO lab_lock (lock_key) VALUES (?)").param(key).update();
		}
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			acquire(key, holder);
			order.acquired();
			boolean sold = this.stock.deduct(order); // in the same transaction
			release(key, holder);
			return sold;
		}));
	}

	private void acquire(String key, String holder) {
		this.jdbc.sql("SELECT holder FROM lab_lock WHERE lock_key = ? FOR UPDATE").param(key).query().singleRow();
		this.jdbc.sql("UPDATE lab_lock SET holder = ? WHERE lock_key = ?").params(holder, key).update();
	}

	private void release(String key, String holder) {
		int released = this.jdbc.sql("UPDATE lab_lock SET holder = NULL WHERE lock_key = ? AND holder = ?")
			.params(key, holder)
			.update();
		if (released == 0) {
			throw new CannotAcquireLockException("Somebody else has taken the lock");
		}
	}

}
