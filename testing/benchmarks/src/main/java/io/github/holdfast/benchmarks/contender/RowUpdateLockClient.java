package io.github.holdfast.benchmarks.contender;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * The least that a lock of the transaction itself can be, and the least that can keep a
 * superseded holder from its commit: one row of a table, updated by hand before anything
 * else. No token for others, no limit of the wait, no notice that the lock was lost.
 */
final class RowUpdateLockClient implements LockClient {

	private final JdbcTemplate jdbc;

	private final Set<String> known = ConcurrentHashMap.newKeySet();

	RowUpdateLockClient(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		jdbc.execute("create table if not exists row_by_hand (lock_key varchar(255) not null primary key, "
				+ "epoch bigint not null)");
	}

	@Override
	public void run(String key, Runnable body) {
		throw new UnsupportedOperationException("There is no lock without a transaction");
	}

	@Override
	public void runInTransaction(String key, Transactions transactions, Runnable body) {
		if (!this.known.contains(key)) {
			insert(key, transactions);
		}
		transactions.run(() -> {
			int rows = this.jdbc.update("update row_by_hand set epoch = epoch + 1 where lock_key = ?", key);
			Assert.state(rows == 1, "There is no row to lock");
			body.run();
		});
	}

	private void insert(String key, Transactions transactions) {
		try {
			transactions.run(() -> this.jdbc.update("insert into row_by_hand values (?, 1)", key));
		}
		catch (DuplicateKeyException ex) {
			// Another thread, or JVM, has been faster
		}
		this.known.add(key);
	}

}
