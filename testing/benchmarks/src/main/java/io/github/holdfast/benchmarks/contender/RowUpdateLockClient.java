package io.github.holdfast.benchmarks.contender;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * The least that a lock of the transaction itself can be, and the least that can keep a
 * superseded holder from its commit: one row of a table, updated by hand before anything
 * else. No token for others, no limit of the wait, no notice that the lock was lost.
 */
final class RowUpdateLockClient extends InsertedRowLockClient {

	private final JdbcTemplate jdbc;

	RowUpdateLockClient(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		jdbc.execute("create table if not exists row_by_hand (lock_key varchar(255) not null primary key, "
				+ "epoch bigint not null)");
	}

	@Override
	void insert(String key) {
		this.jdbc.update("insert into row_by_hand values (?, 1)", key);
	}

	@Override
	void lockAndRun(String key, Runnable body) {
		int rows = this.jdbc.update("update row_by_hand set epoch = epoch + 1 where lock_key = ?", key);
		Assert.state(rows == 1, "There is no row to lock");
		body.run();
	}

}
