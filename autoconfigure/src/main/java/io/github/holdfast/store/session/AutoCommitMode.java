package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * The auto-commit mode that the connection of a session really has.
 */
final class AutoCommitMode {

	private final Connection connection;

	/** Pools remember what they were told; SQL may have switched it since. */
	private final Connection driver;

	private final boolean initial;

	private final boolean sent;

	/**
	 * Create the mode of a connection.
	 * @param connection the connection
	 * @param sent whether a round trip is needed to switch it
	 */
	AutoCommitMode(Connection connection, boolean sent) throws SQLException {
		this.connection = connection;
		this.driver = connection.isWrapperFor(Connection.class) ? connection.unwrap(Connection.class) : connection;
		this.initial = connection.getAutoCommit();
		this.sent = sent;
	}

	/**
	 * The mode that the pool gives to its connections.
	 */
	boolean initial() {
		return this.initial;
	}

	boolean isSent() {
		return this.sent;
	}

	boolean current() throws SQLException {
		return this.driver.getAutoCommit();
	}

	void need(boolean autoCommit) throws SQLException {
		if (current() != autoCommit) {
			this.connection.setAutoCommit(autoCommit);
		}
	}

}
