package io.github.holdfast.autoconfigure;

import java.sql.SQLException;

import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.sql.SqlDialect;

/**
 * Fails the start when the lock table is not there, or not to be written, after all
 * migrations have run.
 */
class JdbcLockTableCheck extends TableCheck {

	static final Table TABLE = new Table("holdfast_lock", "lock backend 'jdbc'", LockProperties.JdbcSchema.SCRIPT,
			"holdfast.jdbc");

	private final JdbcLockBackend backend;

	JdbcLockTableCheck(JdbcLockBackend backend) {
		super(TABLE);
		this.backend = backend;
	}

	@Override
	SqlDialect dialect() throws SQLException {
		return this.backend.dialect();
	}

	@Override
	void checkTable() throws SQLException {
		this.backend.checkTable();
	}

	@Override
	void checkWritable() throws SQLException {
		this.backend.checkWritable();
	}

}
