package io.github.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * The auto-commit mode of a session's connection. It is switched when something needs the
 * other one, not before: MySQL and MariaDB take a round trip for it, and the transactions
 * that run under a lock one after the other all need the same.
 */
final class AutoCommitMode {

	private final Connection connection;

	private final boolean initial;

	AutoCommitMode(Connection connection) throws SQLException {
		this.connection = connection;
		this.initial = connection.getAutoCommit();
	}

	/**
	 * The mode that the pool gives to its connections.
	 */
	boolean initial() {
		return this.initial;
	}

	/**
	 * The mode that the database knows of. Drivers know it, too.
	 */
	boolean current() throws SQLException {
		return this.connection.getAutoCommit();
	}

	void need(boolean autoCommit) throws SQLException {
		if (current() != autoCommit) {
			this.connection.setAutoCommit(autoCommit);
		}
	}

}
