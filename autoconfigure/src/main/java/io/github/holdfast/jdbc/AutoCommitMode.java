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

	private boolean current;

	AutoCommitMode(Connection connection) throws SQLException {
		this.connection = connection;
		this.initial = connection.getAutoCommit();
		this.current = this.initial;
	}

	/**
	 * The mode that the pool gives to its connections.
	 */
	boolean initial() {
		return this.initial;
	}

	/**
	 * The mode that the database knows of.
	 */
	boolean current() {
		return this.current;
	}

	void need(boolean autoCommit) throws SQLException {
		if (this.current != autoCommit) {
			this.connection.setAutoCommit(autoCommit);
			this.current = autoCommit;
		}
	}

}
