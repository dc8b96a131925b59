package io.github.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.support.SqlDialect;

/**
 * Runs lock statements on connections of their own, outside of any transaction that
 * Spring manages, and commits them whatever auto-commit mode the pool has.
 *
 * <p>
 * A statement in auto-commit mode is a transaction by itself: under a stricter isolation
 * level than READ COMMITTED it may fail, and is tried again, but it never sees old data.
 */
final class LockConnections {

	private final Supplier<DataSource> dataSource;

	private volatile @Nullable LockTable table;

	LockConnections(Supplier<DataSource> dataSource) {
		this.dataSource = SingletonSupplier.of(() -> unwrap(dataSource.get()));
	}

	private static DataSource unwrap(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? unwrap(proxy.getTargetDataSource()) : dataSource;
	}

	/**
	 * Run single statements.
	 */
	<T> T call(Work<T> work) throws SQLException {
		try (Connection connection = this.dataSource.get().getConnection()) {
			return connection.getAutoCommit() ? work.run(connection, table(connection)) : commit(connection, work);
		}
	}

	/**
	 * Run statements that belong together in a transaction of their own.
	 */
	<T> T inTransaction(Work<T> work) throws SQLException {
		try (Connection connection = this.dataSource.get().getConnection()) {
			boolean autoCommit = connection.getAutoCommit();
			int isolation = connection.getTransactionIsolation();
			if (autoCommit) {
				connection.setAutoCommit(false);
			}
			try {
				if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
					connection.rollback();
					connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
				}
				return commit(connection, work);
			}
			finally {
				if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
					connection.setTransactionIsolation(isolation);
				}
				if (autoCommit) {
					connection.setAutoCommit(true);
				}
			}
		}
	}

	private <T> T commit(Connection connection, Work<T> work) throws SQLException {
		try {
			T result = work.run(connection, table(connection));
			connection.commit();
			return result;
		}
		catch (SQLException | RuntimeException ex) {
			try {
				connection.rollback();
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
			}
			throw ex;
		}
	}

	SqlDialect dialect() throws SQLException {
		return call((connection, table) -> table.dialect());
	}

	/**
	 * Whether a failure says what the dialect knows about; never before the first
	 * connection.
	 */
	boolean is(SQLException ex, BiPredicate<SqlDialect, SQLException> kind) {
		LockTable table = this.table;
		return table != null && kind.test(table.dialect(), ex);
	}

	private LockTable table(Connection connection) throws SQLException {
		LockTable table = this.table;
		if (table == null) {
			table = new LockTable(SqlDialect.of(connection));
			this.table = table;
		}
		return table;
	}

	/**
	 * Statements on a connection.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface Work<T> {

		T run(Connection connection, LockTable table) throws SQLException;

	}

}
