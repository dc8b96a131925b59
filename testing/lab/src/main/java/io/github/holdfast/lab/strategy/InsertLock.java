package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.UUID;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Whoever can insert the row has the lock, until it expires. The transaction that changes
 * the stock deletes the row; if it is another one's by then, it is rolled back.
 * <p>
 * Waiting is a loop: a method that calls itself to wait ends with a
 * {@code StackOverflowError}. And only what means that the lock is held is caught: who
 * swallows each {@code Throwable} takes that error, or a table that is missing, for a
 * lock that is held, and waits on.
 */
@NodeComponent
class InsertLock implements Strategy {

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final StockService stock;

	private final Duration leaseTime;

	InsertLock(JdbcClient jdbc, TransactionTemplate transaction, StockService stock,
			@Value("${lab.lease-time}") Duration leaseTime) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.stock = stock;
		this.leaseTime = leaseTime;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		String holder = UUID.randomUUID().toString();
		while (!insert(key, holder)) {
			order.waitOrGiveUp();
		}
		return sellLocked(order, key, holder);
	}

	boolean sellLocked(Order order, String key, String holder) {
		order.acquired();
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			boolean sold = this.stock.deduct(order); // in the same transaction
			if (!delete(key, holder)) {
				throw new BusyException("Took too long: somebody else has the lock now");
			}
			return sold;
		}));
	}

	boolean insert(String key, String holder) {
		try {
			this.jdbc.sql("DELETE FROM lab_insert_lock WHERE lock_key = ? AND expires_at < NOW(3)").param(key).update();
			this.jdbc.sql("INSERT INTO lab_insert_lock VALUES (?, ?, NOW(3) + INTERVAL ? MICROSECOND)")
				.params(key, holder, this.leaseTime.toNanos() / 1_000)
				.update();
			return true;
		}
		catch (DuplicateKeyException | CannotAcquireLockException ex) {
			return false; // the lock is held, or the database has chosen between those
							// who wait
		}
	}

	private boolean delete(String key, String holder) {
		return this.jdbc.sql("DELETE FROM lab_insert_lock WHERE lock_key = ? AND holder = ?")
			.params(key, holder)
			.update() == 1;
	}

}
