package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHandle;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.sql.OpenTransaction;

/**
 * The connection of a transaction as its manager has it, for COMMIT, ROLLBACK and the
 * clean-up. That one switches auto-commit on, which commits what is left, or with JPA
 * leaves it open, so it is rolled back first unless the guard has settled it: Spring
 * leaves out a rollback, or the guard, after a checked exception or one of a listener.
 */
final class CleanedUpConnection extends ConnectionHolder {

	private static final Logger logger = LoggerFactory.getLogger(CleanedUpConnection.class);

	private final DataSource dataSource;

	private final ConnectionHolder bound;

	private final DefaultTransactionStatus transaction;

	private final Runnable whenUnsettled;

	private boolean settled;

	/**
	 * Create the connection of a manager.
	 * @param dataSource for which it is bound to the thread, until the clean-up begins
	 * @param bound what is bound
	 * @param handle its connection
	 * @param transaction the transaction, which is completed when the clean-up begins
	 * @param whenUnsettled called in a clean-up that nobody has settled, after the
	 * rollback
	 */
	CleanedUpConnection(DataSource dataSource, ConnectionHolder bound, ConnectionHandle handle,
			DefaultTransactionStatus transaction, Runnable whenUnsettled) {
		super(handle);
		this.dataSource = dataSource;
		this.bound = bound;
		this.transaction = transaction;
		this.whenUnsettled = whenUnsettled;
	}

	/**
	 * Let the clean-up commit what is left.
	 */
	void settled() {
		this.settled = true;
	}

	@Override
	public Connection getConnection() {
		rollBackUnsettled();
		return this.bound.getConnection();
	}

	/**
	 * What JPA asks for.
	 */
	@Override
	public @Nullable ConnectionHandle getConnectionHandle() {
		rollBackUnsettled();
		return super.getConnectionHandle();
	}

	/**
	 * That of an inner transaction on the connection of an outer one stays bound.
	 */
	private void rollBackUnsettled() {
		if (!this.settled && this.transaction.isCompleted()
				&& !TransactionSynchronizationManager.hasResource(this.dataSource)) {
			rollBack();
			this.whenUnsettled.run();
		}
	}

	private void rollBack() {
		try {
			Connection connection = BoundConnection.connection(this.bound);
			if (!connection.getAutoCommit() && OpenTransaction.mayHaveChanges(connection)) {
				connection.rollback();
				logger.warn("What may have been done last on the connection of a transaction under a lock was rolled "
						+ "back: an exception of a callback or listener has kept its locks from being checked");
			}
		}
		catch (SQLException | RuntimeException ex) {
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
	public void resetRollbackOnly() {
		this.bound.resetRollbackOnly();
	}

	@Override
	public Savepoint createSavepoint() throws SQLException {
		return this.bound.createSavepoint();
	}

	@Override
	public void clear() {
		this.bound.clear();
	}

}
