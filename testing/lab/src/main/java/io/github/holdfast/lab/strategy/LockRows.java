package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Strategies with a row for each lock.
 */
@NodeComponent
class LockRows {

	private static final int LONGER_THAN_USUAL_MS = 20;

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final StockService stock;

	private final Duration leaseTime;

	LockRows(JdbcClient jdbc, TransactionTemplate transaction, StockService stock,
			@Value("${lab.lease-time}") Duration leaseTime) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.stock = stock;
		this.leaseTime = leaseTime;
	}

	/**
	 * A row for each lock: inserted when it is missing, locked by the transaction that
	 * changes the stock, with the name of the holder in it.
	 */
	public boolean lockTable(Order order) {
		String key = order.key();
		String holder = UUID.randomUUID().toString();
		if (this.jdbc.sql("SELECT 1 FROM lab_lock WHERE lock_key = ?").param(key).query().listOfRows().isEmpty()) {
			execute("INSERT IGNORE INTO lab_lock (lock_key) VALUES (?)", key);
		}
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			this.jdbc.sql("SELECT holder FROM lab_lock WHERE lock_key = ? FOR UPDATE").param(key).query().singleRow();
			execute("UPDATE lab_lock SET holder = ? WHERE lock_key = ?", holder, key);
			order.acquired();
			boolean sold = this.stock.deduct(order); // in the same transaction
			if (execute("UPDATE lab_lock SET holder = NULL WHERE lock_key = ? AND holder = ?", key, holder) == 0) {
				throw new CannotAcquireLockException("Somebody else has taken the lock");
			}
			return sold;
		}));
	}

	/**
	 * One lock for all stock: a row that each transaction locks first, whatever it sells.
	 */
	public boolean oneLockForAll(Order order) {
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			this.jdbc.sql("SELECT holder FROM lab_lock WHERE lock_key = 'stock' FOR UPDATE").query().singleRow();
			order.acquired();
			return this.stock.deduct(order); // in the same transaction
		}));
	}

	/**
	 * The row of the lock is looked for, inserted and deleted by the transaction that
	 * changes the stock, so nobody else ever sees it; and whoever looks first goes on to
	 * read the stock as it was then. Its owner is a thread, of whose name each node has
	 * one.
	 */
	public boolean lockRowInTransaction(Order order) {
		while (true) {
			try {
				return Boolean.TRUE.equals(this.transaction.execute((status) -> sellInTransaction(order)));
			}
			catch (BusyException | DuplicateKeyException | CannotAcquireLockException ex) {
				order.waitOrGiveUp();
			}
		}
	}

	private boolean sellInTransaction(Order order) {
		String key = order.key();
		String owner = Thread.currentThread().getName();
		if (!this.jdbc.sql("SELECT 1 FROM lab_lock WHERE lock_key = ?").param(key).query().listOfRows().isEmpty()) {
			throw new BusyException("The lock was busy");
		}
		execute("INSERT INTO lab_lock VALUES (?, ?)", key, owner);
		order.acquired();
		boolean sold = this.stock.deduct(order); // in the same transaction
		execute("DELETE FROM lab_lock WHERE lock_key = ? AND holder = ?", key, owner);
		return sold;
	}

	/**
	 * Whoever can insert the row has the lock, until it expires. The transaction that
	 * changes the stock deletes the row; if it is another one's by then, it is rolled
	 * back.
	 * <p>
	 * Waiting is a loop: a method that calls itself to wait ends with a
	 * {@code StackOverflowError}. And only what means that the lock is held is caught:
	 * who swallows each {@code Throwable} takes that error, or a table that is missing,
	 * for a lock that is held, and waits on.
	 */
	public boolean insertLock(Order order) {
		return insertLock(order, Integer.MAX_VALUE);
	}

	/**
	 * The same lock, but whoever has waited for it twice gives up. Nothing is sold twice,
	 * but orders are turned away while there is stock for them.
	 */
	public boolean twoWaits(Order order) {
		return insertLock(order, 2);
	}

	private boolean insertLock(Order order, int mostWaits) {
		String key = order.key();
		String holder = UUID.randomUUID().toString();
		for (int waits = 0; !insertOrReplace(key, holder); waits++) {
			if (waits == mostWaits) {
				throw new BusyException("Waited often enough");
			}
			order.waitOrGiveUp();
		}
		order.acquired();
		return Boolean.TRUE.equals(this.transaction.execute((status) -> {
			boolean sold = this.stock.deduct(order); // in the same transaction
			if (execute("DELETE FROM lab_insert_lock WHERE lock_key = ? AND holder = ?", key, holder) == 0) {
				throw new BusyException("Took too long: somebody else has the lock now");
			}
			return sold;
		}));
	}

	private boolean insertOrReplace(String key, String holder) {
		return succeeds("DELETE FROM lab_insert_lock WHERE lock_key = ? AND expires_at < NOW(3)", key)
				&& succeeds("INSERT INTO lab_insert_lock VALUES (?, ?, NOW(3) + INTERVAL ? MICROSECOND)", key, holder,
						this.leaseTime.toNanos() / 1_000);
	}

	/**
	 * Whoever finds the row expired, by the clock of the JVM, deletes it by its name. By
	 * then it may be the new row of somebody else, and holders delete by name, too.
	 */
	public boolean expiryInJava(Order order) {
		String key = order.key();
		return order.sellLocked(() -> insertExpiring(key), this.stock, () -> deleteExpiring(key));
	}

	private boolean insertExpiring(String key) {
		Optional<Long> expiresAt = this.jdbc.sql("SELECT expires_at FROM lab_expiring_lock WHERE lock_key = ?")
			.param(key)
			.query(Long.class)
			.optional();
		if (expiresAt.isPresent() && expiresAt.get() < System.currentTimeMillis()) {
			deleteExpiring(key); // whoever's it is now
		}
		return succeeds("INSERT INTO lab_expiring_lock VALUES (?, ?)", key,
				System.currentTimeMillis() + LONGER_THAN_USUAL_MS);
	}

	private void deleteExpiring(String key) {
		succeeds("DELETE FROM lab_expiring_lock WHERE lock_key = ?", key);
	}

	/**
	 * Whoever can insert the row has the lock, and a job deletes the rows of those who
	 * have died: {@link #clean} cannot tell them from those who are slow.
	 */
	public boolean insertLockCleaner(Order order) {
		String key = order.key();
		String holder = UUID.randomUUID().toString();
		return order.sellLocked(() -> succeeds("INSERT INTO lab_cleaned_lock VALUES (?, ?, NOW(3))", key, holder),
				this.stock,
				() -> execute("DELETE FROM lab_cleaned_lock WHERE lock_key = ? AND holder = ?", key, holder));
	}

	/** The job. Locks are held for less than 20 ms, usually. */
	@Scheduled(fixedDelay = 10)
	void clean() {
		execute("DELETE FROM lab_cleaned_lock WHERE locked_at < NOW(3) - INTERVAL 20000 MICROSECOND");
	}

	/** False if it is held, or the database has chosen between those who wait. */
	private boolean succeeds(String sql, Object... parameters) {
		try {
			execute(sql, parameters);
			return true;
		}
		catch (DuplicateKeyException | CannotAcquireLockException ex) {
			return false;
		}
	}

	private int execute(String sql, Object... parameters) {
		return this.jdbc.sql(sql).params(parameters).update();
	}

}
