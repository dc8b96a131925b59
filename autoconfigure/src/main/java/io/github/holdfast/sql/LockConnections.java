package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * Runs lock statements on connections of their own, outside of any transaction that
 * Spring manages, and commits them whatever auto-commit mode the pool has.
 *
 * <p>
 * A statement in auto-commit mode is a transaction by itself: under a stricter isolation
 * level than READ COMMITTED it may fail, and is tried again, but it never sees old data.
 *
 * @param <S> the statements on a table, as a dialect writes them
 * @since 0.2.0
 */
public final class LockConnections<S> {

	/** A deadlock victim tries again at once, but not for ever. */
	private static final int ATTEMPTS = 5;

	/** How many broken connections one call passes over: more than most pools have. */
	public static final int BROKEN_SESSIONS = 100;

	private static final long MAX_TIMEOUT_SECONDS = 3600;

	private final Supplier<DataSource> dataSource;

	private final Function<SqlDialect, S> statements;

	private volatile @Nullable Database<S> database;

	/**
	 * Create connections to a database.
	 * @param dataSource supplies the database, at the first use
	 * @param statements creates the statements, when the dialect is known
	 */
	public LockConnections(Supplier<DataSource> dataSource, Function<SqlDialect, S> statements) {
		this.dataSource = SingletonSupplier.of(dataSource);
		this.statements = statements;
	}

	/**
	 * Run single statements.
	 * @param <T> the type of the result
	 * @param work the statements
	 * @return their result
	 * @throws SQLException if a statement fails
	 */
	public <T extends @Nullable Object> T call(Work<S, T> work) throws SQLException {
		try (Connection connection = open()) {
			if (connection.getAutoCommit()) {
				return work.run(connection, statements(connection));
			}
			if (OpenTransaction.mayBeOn(connection)) {
				// Of the pool, which has looked after it: what is read there may be old
				connection.commit();
			}
			return commit(connection, work);
		}
	}

	/**
	 * Open a connection outside of all transactions.
	 * @return the connection, to be closed by the caller
	 * @throws SQLException if there is none
	 */
	public Connection open() throws SQLException {
		return OwnConnections.open(this.dataSource.get());
	}

	/**
	 * Run statements without a result, one after the other.
	 * @param statements the statements
	 * @throws SQLException if a statement fails
	 */
	public void execute(String... statements) throws SQLException {
		call((connection, ignored) -> {
			try (Statement statement = connection.createStatement()) {
				for (String sql : statements) {
					statement.execute(sql);
				}
			}
			return statements.length;
		});
	}

	/**
	 * Run statements that belong together in a transaction of their own, at READ
	 * COMMITTED.
	 * @param <T> the type of the result
	 * @param work the statements
	 * @return their result
	 * @throws SQLException if a statement or the commit fails
	 */
	public <T extends @Nullable Object> T inTransaction(Work<S, T> work) throws SQLException {
		try (Connection connection = open()) {
			OwnTransaction transaction = OwnTransaction.on(connection);
			T result;
			try {
				result = commit(connection, work);
			}
			catch (Throwable ex) {
				transaction.restoreAfter(ex);
				throw ex;
			}
			transaction.restore();
			return result;
		}
	}

	/**
	 * Do the same in a transaction that may wait for others, and that the database ends
	 * if it idles for too long: if this process stands still when the wait is over.
	 * @param <T> the type of the result
	 * @param idleLimit how long it may idle
	 * @param work the statements
	 * @return their result
	 * @throws SQLException if a statement or the commit fails
	 */
	public <T extends @Nullable Object> T inTransaction(Duration idleLimit, Work<S, T> work) throws SQLException {
		SqlDialect dialect = dialect();
		OwnTransaction transaction = begin();
		try {
			transaction.execute(dialect.limitIdle(idleLimit));
			return commit(transaction.connection(), work);
		}
		finally {
			transaction.end(dialect.unlimitIdle());
		}
	}

	/**
	 * Begin a transaction of its own, at READ COMMITTED, that nothing is to be committed
	 * of.
	 * @return the transaction, to be ended by the caller
	 * @throws SQLException if there is no connection
	 */
	public OwnTransaction begin() throws SQLException {
		Connection connection = open();
		try {
			return OwnTransaction.on(connection);
		}
		catch (SQLException | RuntimeException ex) {
			try (connection) {
				throw ex;
			}
		}
	}

	private <T extends @Nullable Object> T commit(Connection connection, Work<S, T> work) throws SQLException {
		try {
			T result = work.run(connection, statements(connection));
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
	}

	/**
	 * Try again at once what failed only because of others that ran at the same time,
	 * such as those that inserted the same row.
	 * @param <T> the type of the result
	 * @param call what to do
	 * @return its result
	 * @throws SQLException if it failed for another reason, or too often
	 */
	public <T extends @Nullable Object> T retry(SqlCall<T> call) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return call.run();
			}
			catch (SQLException ex) {
				if (attempt == ATTEMPTS
						|| !is(ex, SqlDialect::isConcurrencyFailure) && !is(ex, SqlDialect::isDuplicateKey)) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Try again at once, on other connections, what failed because its session had ended.
	 * A pool finds out by their use that its connections are broken, and after a restart
	 * of the database all of them are. As the first attempt may have had an effect, the
	 * result has to be the same after another one. Otherwise as {@link #retry}.
	 * @param <T> the type of the result
	 * @param call what to do
	 * @return its result
	 * @throws SQLException if it failed for another reason, or there is no connection
	 */
	public <T extends @Nullable Object> T retryInAnySession(SqlCall<T> call) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return retry(call);
			}
			catch (SQLException ex) {
				if (attempt == BROKEN_SESSIONS || !isBrokenSession(ex)) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Whether another connection may do what has failed on this one. A pool that has none
	 * has tried for its own time already.
	 * @param ex the failure
	 * @return {@code true} if the session of a connection had ended
	 */
	public static boolean isBrokenSession(SQLException ex) {
		return SqlStates.isEndOfSession(ex) && !(ex instanceof SQLTransientConnectionException);
	}

	/**
	 * The dialect of the database.
	 * @return the dialect
	 * @throws SQLException if the database is unreachable
	 */
	public SqlDialect dialect() throws SQLException {
		Database<S> database = this.database;
		return (database != null) ? database.dialect() : call((connection, statements) -> SqlDialect.of(connection));
	}

	/**
	 * Whether a failure says what the dialect knows about; never before the first
	 * connection.
	 * @param ex the failure
	 * @param kind what it could say
	 * @return {@code true} if it does
	 */
	public boolean is(SQLException ex, BiPredicate<SqlDialect, SQLException> kind) {
		Database<S> database = this.database;
		return database != null && kind.test(database.dialect(), ex);
	}

	/**
	 * The dialect, if it is known without asking the database.
	 * @return the dialect, or {@code null} before the first connection
	 */
	public @Nullable SqlDialect knownDialect() {
		Database<S> database = this.database;
		return (database != null) ? database.dialect() : null;
	}

	private S statements(Connection connection) throws SQLException {
		Database<S> database = this.database;
		if (database == null) {
			SqlDialect dialect = SqlDialect.of(connection);
			database = new Database<>(dialect, this.statements.apply(dialect));
			this.database = database;
		}
		return database.statements();
	}

	/**
	 * Prepare a statement with a time-out, except on H2: its time-out is that of the
	 * session, with which the application would go on, and ends no wait for a row, as its
	 * {@code LOCK_TIMEOUT} does.
	 * @param connection the connection
	 * @param sql the statement
	 * @param timeout how long it may take, rounded up to seconds
	 * @return the statement
	 * @throws SQLException if the driver fails
	 */
	public static PreparedStatement prepare(Connection connection, String sql, Duration timeout) throws SQLException {
		return limited(connection, connection.prepareStatement(sql), timeout);
	}

	/**
	 * Give a statement a time-out, as {@link #prepare} does.
	 * @param connection its connection
	 * @param statement the statement
	 * @param timeout how long it may take, rounded up to seconds
	 * @return the same statement
	 * @throws SQLException if the driver fails
	 */
	public static PreparedStatement limited(Connection connection, PreparedStatement statement, Duration timeout)
			throws SQLException {
		if (hasTimeouts(connection)) {
			statement
				.setQueryTimeout((int) Math.max(1, Math.min(timeout.plusMillis(999).toSeconds(), MAX_TIMEOUT_SECONDS)));
		}
		return statement;
	}

	static boolean hasTimeouts(Connection connection) throws SQLException {
		return SqlDialect.of(connection) != SqlDialect.H2;
	}

	private record Database<S>(SqlDialect dialect, S statements) {

	}

	/**
	 * Statements on a connection.
	 *
	 * @param <S> the statements on a table
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface Work<S, T extends @Nullable Object> {

		/**
		 * Run the statements.
		 * @param connection the connection
		 * @param statements the statements
		 * @return the result
		 * @throws SQLException if a statement fails
		 */
		T run(Connection connection, S statements) throws SQLException;

	}

	/**
	 * A use of the database.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface SqlCall<T extends @Nullable Object> {

		/**
		 * Use the database.
		 * @return the result
		 * @throws SQLException if it fails
		 */
		T run() throws SQLException;

	}

}
