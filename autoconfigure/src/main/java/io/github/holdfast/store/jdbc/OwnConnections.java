package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockBackendException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.util.function.SingletonSupplier;

/**
 * Connections that take no part in the transaction of the calling thread. Work on them
 * commits by itself, at READ COMMITTED.
 */
public final class OwnConnections {

	private static final int ATTEMPTS = 5;

	/** More than the broken connections that a usual pool can have after a restart. */
	static final int BROKEN_SESSIONS = 100;

	private static final Set<String> ENDED = Set.of("25S03", "25P03", "57P01", "57P02", "57P05");

	private final SingletonSupplier<DataSource> dataSource;

	private volatile @Nullable LockRows rows;

	private volatile int isolation;

	private volatile boolean autoCommit;

	OwnConnections(Supplier<DataSource> dataSource) {
		this.dataSource = SingletonSupplier.of(() -> withoutTransactions(dataSource.get()));
	}

	private static DataSource withoutTransactions(DataSource dataSource) {
		DataSource target = (dataSource instanceof TransactionAwareDataSourceProxy proxy) ? proxy.getTargetDataSource()
				: null;
		return (target != null) ? withoutTransactions(target) : dataSource;
	}

	/**
	 * The pool.
	 * @return the pool, without a proxy that takes part in transactions
	 */
	public DataSource dataSource() {
		return this.dataSource.obtain();
	}

	/**
	 * The statements for the database that is really there.
	 * @return the statements
	 * @throws LockBackendException if the database failed
	 */
	public LockRows rows() {
		LockRows rows = this.rows;
		return (rows != null) ? rows
				: LockWaits.ask("holdfast_lock", "could not be read", () -> repeat(() -> call((own, known) -> known)));
	}

	/**
	 * The isolation level that the pool gives its connections.
	 * @return a constant of {@link Connection}
	 * @throws LockBackendException if the database failed
	 */
	public int isolation() {
		rows();
		return this.isolation;
	}

	/**
	 * Whether an error allows another attempt.
	 * @param ex the error
	 * @return {@code true} after a deadlock or a timeout
	 */
	public boolean isTransient(SQLException ex) {
		LockRows rows = this.rows;
		return rows != null && rows.dialect().isTransient(ex);
	}

	/**
	 * Whether the user lacks a privilege.
	 */
	boolean isDenied(SQLException ex) {
		LockRows rows = this.rows;
		return rows != null && rows.dialect().isDenied(ex);
	}

	private LockRows rows(Connection connection) throws SQLException {
		LockRows rows = this.rows;
		if (rows == null) {
			rows = new LockRows(SqlDialect.of(connection));
			this.isolation = connection.getTransactionIsolation();
			this.autoCommit = connection.getAutoCommit();
			this.rows = rows;
		}
		return rows;
	}

	/**
	 * Runs one statement that commits by itself.
	 */
	<T extends @Nullable Object> T call(Work<T> work) throws SQLException {
		try (Connection connection = this.dataSource.obtain().getConnection()) {
			LockRows rows = rows(connection);
			if (this.autoCommit && this.isolation == Connection.TRANSACTION_READ_COMMITTED) {
				return work.run(connection, rows);
			}
			return inTransaction(connection, rows, work);
		}
	}

	/**
	 * Runs several statements in a transaction.
	 */
	<T extends @Nullable Object> T inTransaction(Work<T> work) throws SQLException {
		try (Connection connection = this.dataSource.obtain().getConnection()) {
			return inTransaction(connection, rows(connection), work);
		}
	}

	private <T extends @Nullable Object> T inTransaction(Connection connection, LockRows rows, Work<T> work)
			throws SQLException {
		if (this.autoCommit) {
			connection.setAutoCommit(false);
		}
		else {
			connection.rollback();
		}
		try {
			if (this.isolation != Connection.TRANSACTION_READ_COMMITTED) {
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			}
			T result = work.run(connection, rows);
			connection.commit();
			return result;
		}
		catch (Throwable ex) {
			try {
				connection.rollback();
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
			}
			throw ex;
		}
		finally {
			if (!connection.isClosed()) {
				restore(connection);
			}
		}
	}

	private void restore(Connection connection) throws SQLException {
		if (this.isolation != Connection.TRANSACTION_READ_COMMITTED) {
			connection.setTransactionIsolation(this.isolation);
		}
		if (this.autoCommit) {
			connection.setAutoCommit(true);
		}
	}

	/**
	 * Repeats work that may be done twice: after a deadlock, and in other sessions of the
	 * pool if one is broken.
	 */
	<T extends @Nullable Object> T repeat(StatementDeadline.SqlCall<T> call) throws SQLException {
		long start = System.nanoTime();
		int transients = 0;
		for (int attempt = 1;; attempt++) {
			try {
				return call.run();
			}
			catch (SQLException ex) {
				transients += isTransient(ex) ? 1 : 0;
				boolean late = attempt == BROKEN_SESSIONS || attempt > 1 && System.nanoTime() - start > LockWaits.SHORT;
				if (Thread.currentThread().isInterrupted() || StatementDeadline.isOver(ex) || transients == ATTEMPTS
						|| !isTransient(ex) && (late || !isBrokenSession(ex))) {
					throw ex;
				}
			}
		}
	}

	static boolean isBrokenSession(SQLException ex) {
		String state = String.valueOf(ex.getSQLState());
		return ENDED.contains(state) || state.startsWith("08") && !(ex instanceof SQLTransientConnectionException);
	}

	/**
	 * Statements on a connection.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface Work<T extends @Nullable Object> {

		T run(Connection connection, LockRows rows) throws SQLException;

	}

}
