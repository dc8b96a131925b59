package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHandle;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.sql.OpenTransaction;

/**
 * The connection of a transaction as its manager has it, for COMMIT, ROLLBACK and the
 * clean-up. That one switches auto-commit on, which commits what is left, so it is rolled
 * back first unless the guard has settled it: Spring leaves out a rollback, or the guard,
 * after a checked exception or one of a listener.
 */
final class CleanedUpConnection extends ConnectionHolder {

	private static final Logger logger = LoggerFactory.getLogger(CleanedUpConnection.class);

	private final DataSource dataSource;

	private final ConnectionHolder bound;

	private boolean settled;

	/**
	 * Create the connection of a manager.
	 * @param dataSource for which it is bound to the thread, until the clean-up begins
	 * @param bound what is bound
	 * @param handle its connection
	 */
	CleanedUpConnection(DataSource dataSource, ConnectionHolder bound, ConnectionHandle handle) {
		super(handle);
		this.dataSource = dataSource;
		this.bound = bound;
	}

	/**
	 * Let the clean-up commit what is left.
	 */
	void settled() {
		this.settled = true;
	}

	@Override
	public Connection getConnection() {
		Connection connection = this.bound.getConnection();
		if (!this.settled && !TransactionSynchronizationManager.hasResource(this.dataSource)) {
			rollBack(connection);
		}
		return connection;
	}

	private static void rollBack(Connection connection) {
		try {
			if (!connection.getAutoCommit() && OpenTransaction.mayHaveChanges(connection)) {
				connection.rollback();
				logger.warn("What was done last on the connection of a transaction under a lock was rolled back, as an "
						+ "exception of a callback or listener came before the check of its locks");
			}
		}
		catch (SQLException ex) {
			logger.debug("A broken connection is rolled back by its database", ex);
		}
	}

	@Override
	public boolean isRollbackOnly() {
		return this.bound.isRollbackOnly();
	}

	@Override
	public void setRollbackOnly() {
		this.bound.setRollbackOnly();
	}

	@Override
	public void clear() {
		this.bound.clear();
	}

}
