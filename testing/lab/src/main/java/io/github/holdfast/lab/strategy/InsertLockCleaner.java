package io.github.holdfast.lab.strategy;

import java.util.UUID;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Whoever can insert the row has the lock, and a job deletes the rows of those who have
 * died. It cannot tell them from those who are slow.
 */
@NodeComponent
class InsertLockCleaner {

	private final JdbcClient jdbc;

	private final StockService stock;

	InsertLockCleaner(JdbcClient jdbc, StockService stock) {
		this.jdbc = jdbc;
		this.stock = stock;
	}

	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		String holder = UUID.randomUUID().toString();
		return order.sellLocked(() -> insert(key, holder), this.stock,
				() -> this.jdbc.sql("DELETE FROM lab_cleaned_lock WHERE lock_key = ? AND holder = ?")
					.params(key, holder)
					.update());
	}

	private boolean insert(String key, String holder) {
		try {
			this.jdbc.sql("INSERT INTO lab_cleaned_lock VALUES (?, ?, NOW(3))").params(key, holder).update();
			return true;
		}
		catch (DuplicateKeyException | CannotAcquireLockException ex) {
			return false;
		}
	}

	/** The job. Locks are held for less than 20 ms, usually. */
	@Scheduled(fixedDelay = 10)
	void clean() {
		this.jdbc.sql("DELETE FROM lab_cleaned_lock WHERE locked_at < NOW(3) - INTERVAL 20000 MICROSECOND").update();
	}

}
