package io.github.holdfast.lab.strategy;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A row is the lock, and whoever finds it expired, by the clock of the JVM, deletes it by
 * its name. By then it may be the new row of somebody else, and holders delete by name,
 * too.
 */
@NodeComponent
class ExpiryInJava implements Strategy {

	/** Longer than it usually takes. */
	private static final int LEASE_MS = 20;

	private final JdbcClient jdbc;

	private final StockService stock;

	ExpiryInJava(JdbcClient jdbc, StockService stock) {
		this.jdbc = jdbc;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		while (!tryLock(key)) {
			order.waitOrGiveUp();
		}
		order.acquired();
		try {
			return this.stock.deduct(order);
		}
		finally {
			delete(key);
			order.released();
		}
	}

	private boolean tryLock(String key) {
		try {
			boolean expired = this.jdbc.sql("SELECT expires_at FROM lab_expiring_lock WHERE lock_key = ?")
				.param(key)
				.query(Long.class)
				.optional()
				.filter((expiresAt) -> expiresAt < System.currentTimeMillis())
				.isPresent();
			if (expired) {
				delete(key); // whoever's it is now
			}
			this.jdbc.sql("INSERT INTO lab_expiring_lock VALUES (?, ?)")
				.params(key, System.currentTimeMillis() + LEASE_MS)
				.update();
			return true;
		}
		catch (DuplicateKeyException | CannotAcquireLockException ex) {
			return false;
		}
	}

	private void delete(String key) {
		this.jdbc.sql("DELETE FROM lab_expiring_lock WHERE lock_key = ?").param(key).update();
	}

}
