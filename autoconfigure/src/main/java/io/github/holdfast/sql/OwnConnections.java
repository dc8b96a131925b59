package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Connections that never belong to a transaction of the application.
 */
final class OwnConnections {

	private OwnConnections() {
	}

	/**
	 * Open a connection that takes no part in a transaction of the calling thread,
	 * whatever is wrapped around a {@link TransactionAwareDataSourceProxy}. A router that
	 * looks at that transaction chooses as it does without one, so that locks are in one
	 * database.
	 * @param dataSource the pool, possibly behind proxies
	 * @return a connection, to be closed by the caller
	 * @throws SQLException if there is none
	 */
	static Connection open(DataSource dataSource) throws SQLException {
		Runnable sayAgain = ThreadTransaction.hide();
		try {
			return chosen(outsideOfTransactions(dataSource).getConnection());
		}
		finally {
			sayAgain.run();
		}
	}

	/**
	 * A {@link LazyConnectionDataSourceProxy} asks the router when its connection is
	 * used.
	 */
	private static Connection chosen(Connection connection) throws SQLException {
		try {
			connection.getMetaData();
			return connection;
		}
		catch (SQLException | RuntimeException ex) {
			try (connection) {
				throw ex;
			}
		}
	}

	private static DataSource outsideOfTransactions(DataSource dataSource) {
		DataSource target = behindTransactionAwareProxy(dataSource);
		return (target != null) ? outsideOfTransactions(target) : dataSource;
	}

	/**
	 * Where a {@link TransactionAwareDataSourceProxy} takes its connections from,
	 * whatever is wrapped around it.
	 * @return {@code null} if there is none
	 */
	static @Nullable DataSource behindTransactionAwareProxy(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(TransactionAwareDataSourceProxy.class)
					? dataSource.unwrap(TransactionAwareDataSourceProxy.class).getTargetDataSource() : null;
		}
		catch (SQLException | RuntimeException ex) {
			// Some do not tell
			return null;
		}
	}

}
