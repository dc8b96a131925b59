package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import org.jspecify.annotations.Nullable;

/**
 * A transaction at READ COMMITTED on a connection of its own, whose settings are put back
 * when it has ended. For one thread at a time.
 *
 * @since 0.3.0
 */
public final class OwnTransaction {

	private final Connection connection;

	private final boolean autoCommit;

	private final int isolation;

	private OwnTransaction(Connection connection) throws SQLException {
		this.connection = connection;
		this.autoCommit = connection.getAutoCommit();
		this.isolation = connection.getTransactionIsolation();
	}

	/**
	 * Begin a transaction.
	 * @param connection a connection that nobody else uses
	 */
	static OwnTransaction on(Connection connection) throws SQLException {
		OwnTransaction transaction = new OwnTransaction(connection);
		try {
			if (transaction.autoCommit) {
				connection.setAutoCommit(false);
			}
			if (transaction.isolation != Connection.TRANSACTION_READ_COMMITTED) {
				connection.rollback();
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			}
		}
		catch (SQLException | RuntimeException ex) {
			transaction.restoreAfter(ex);
			throw ex;
		}
		return transaction;
	}

	/**
	 * The connection, for statements.
	 * @return the connection
	 */
	public Connection connection() {
		return this.connection;
	}

	/**
	 * Run a statement without a result of interest.
	 * @param sql the statement
	 * @throws SQLException if it fails
	 */
	public void execute(String sql) throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/**
	 * Put the settings of the connection back.
	 */
	void restore() throws SQLException {
		if (this.isolation != Connection.TRANSACTION_READ_COMMITTED) {
			this.connection.setTransactionIsolation(this.isolation);
		}
		if (this.autoCommit) {
			this.connection.setAutoCommit(true);
		}
	}

	/**
	 * Put the settings of the connection back after a failure, which may be that of its
	 * session and stays the one to be told.
	 */
	void restoreAfter(Throwable failure) {
		try {
			restore();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Roll the transaction back, and close the connection. If that fails, the session is
	 * ended, so that nobody gets a connection with other settings than its own.
	 * @param reset a statement that takes back what was set besides, or {@code null}
	 * @return {@code false} if the session was, or has been, ended
	 */
	public boolean end(@Nullable String reset) {
		boolean rolledBack = false;
		try {
			this.connection.rollback();
			rolledBack = true;
			if (reset != null) {
				execute(reset);
			}
			restore();
			this.connection.close();
			return true;
		}
		catch (SQLException | RuntimeException ex) {
			abort();
			return rolledBack;
		}
	}

	private void abort() {
		try (Connection aborted = this.connection) {
			aborted.abort(Runnable::run);
		}
		catch (SQLException | RuntimeException ex) {
			// It has ended, which is what matters
		}
	}

}
