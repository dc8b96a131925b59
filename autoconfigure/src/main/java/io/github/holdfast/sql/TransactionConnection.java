package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockBackendException;

/**
 * The connection of the transaction that runs on this thread.
 *
 * @since 0.2.0
 */
public final class TransactionConnection {

	private static final Logger logger = LoggerFactory.getLogger(TransactionConnection.class);

	private final DataSource managed;

	private final Connection connection;

	private TransactionConnection(DataSource managed, Connection connection) {
		this.managed = managed;
		this.connection = connection;
	}

	/**
	 * Check a lock in the running transaction. A connection that Spring has to fetch for
	 * this is another one than that of the transaction.
	 * @param <T> the type of the result
	 * @param managed the DataSource of the transaction's manager
	 * @param key the stored id of the lock
	 * @param work the check
	 * @return its result
	 * @throws LockBackendException if a statement fails
	 */
	public static <T extends @Nullable Object> T use(DataSource managed, String key, Work<T> work) {
		Connection connection = DataSourceUtils.getConnection(managed);
		try {
			if (!DataSourceUtils.isConnectionTransactional(connection, managed) || connection.getAutoCommit()) {
				throw new IllegalStateException("The connection that Spring knows of is not that of the transaction, "
						+ "as it is in auto-commit mode. So the fence cannot be checked inside the transaction, "
						+ "which was rolled back. With JPA, the JpaDialect must expose the JDBC connection");
			}
			return work.on(new TransactionConnection(managed, connection));
		}
		catch (SQLException ex) {
			throw new LockBackendException(key, "the fence could not be read, so the transaction was rolled back", ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, managed);
		}
	}

	/**
	 * Whether the connections of a manager are those of a transaction that runs already:
	 * a {@link TransactionAwareDataSourceProxy} behind its DataSource hands them out, and
	 * lets the manager commit them.
	 * @param managed the DataSource of the manager
	 * @param holder what Spring has bound to this thread for that transaction
	 * @return whether a new transaction of the manager works on that connection
	 */
	public static boolean isJoining(DataSource managed, Object holder) {
		DataSource target = OwnConnections.behindTransactionAwareProxy(managed);
		while (target != null && TransactionSynchronizationManager.getResource(target) != holder) {
			target = OwnConnections.behindTransactionAwareProxy(target);
		}
		return target != null;
	}

	/**
	 * Roll back what was done in the running transaction so far. A broken connection is
	 * rolled back by its database.
	 * @param managed the DataSource of the transaction's manager
	 */
	public static void rollBack(DataSource managed) {
		Connection connection = DataSourceUtils.getConnection(managed);
		try {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
		}
		catch (SQLException ex) {
			logger.debug("A broken connection is rolled back by its database", ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, managed);
		}
	}

	/**
	 * The connection, which is in a transaction.
	 * @return the connection
	 */
	public Connection get() {
		return this.connection;
	}

	/**
	 * Prepare a statement with what is left of the transaction's time-out. Callbacks that
	 * come after the transaction have none.
	 * @param sql the statement
	 * @param timeout how long it may take if the transaction has no time-out
	 * @return the statement
	 * @throws SQLException if the driver fails
	 */
	public PreparedStatement prepare(String sql, Duration timeout) throws SQLException {
		PreparedStatement statement = LockConnections.prepare(this.connection, sql, timeout);
		if (TransactionSynchronizationManager.isSynchronizationActive()
				&& LockConnections.hasTimeouts(this.connection)) {
			DataSourceUtils.applyTransactionTimeout(statement, this.managed);
		}
		return statement;
	}

	/**
	 * A check on the connection of a transaction.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface Work<T extends @Nullable Object> {

		/**
		 * Check.
		 * @param connection the connection
		 * @return the result
		 * @throws SQLException if a statement fails
		 */
		T on(TransactionConnection connection) throws SQLException;

	}

}
