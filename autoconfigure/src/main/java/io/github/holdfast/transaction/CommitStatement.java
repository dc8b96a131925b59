package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.AutoSave;
import org.postgresql.jdbc.PreferQueryMode;

/**
 * A statement that checks a lease and commits, for drivers that then have nothing left to
 * send for {@link Connection#commit()}: they know from each answer whether a transaction
 * is open.
 *
 * <p>
 * Only locks of the check have a time-out. One for the whole statement could strike in
 * the commit; in PostgreSQL it would end the wait for a standby, and report success.
 */
enum CommitStatement {

	/** MariaDB with its own driver. */
	MARIADB("MariaDB", "MariaDB Connector/J") {

		/**
		 * A driver that repeats a transaction on another server would not know that it
		 * may have been committed.
		 */
		@Override
		boolean isUsable(Connection connection) throws SQLException {
			return !url(connection).contains("transactionReplay=true");
		}

		@Override
		boolean sendsTexts(Connection connection) throws SQLException {
			return !url(connection).contains("useServerPrepStmts=true");
		}

		private static String url(Connection connection) throws SQLException {
			return String.valueOf(connection.getMetaData().getURL());
		}

		@Override
		String sql(String check, int patience, boolean autoCommit) {
			return """
					BEGIN NOT ATOMIC
					DECLARE held BOOLEAN;
					SET STATEMENT innodb_lock_wait_timeout = %1$d, lock_wait_timeout = %1$d FOR SELECT EXISTS (%2$s) INTO held;
					IF held IS NOT TRUE THEN SIGNAL SQLSTATE '45F01' SET MESSAGE_TEXT = 'The lock is lost'; END IF;
					COMMIT;
					%3$s
					END"""
				.formatted(patience, check, autoCommit ? "SET autocommit = 1;" : "");
		}

		@Override
		boolean isLoss(SQLException ex) {
			return "45F01".equals(ex.getSQLState());
		}

		@Override
		boolean isLockTimeout(SQLException ex) {
			return ex.getErrorCode() == 1205;
		}

		@Override
		boolean isUnknownName(SQLException ex) {
			return ex.getErrorCode() == 1243;
		}

		/**
		 * Deadlocks, locks that took too long or were too many, and rows that have
		 * changed since the snapshot: a commit does not lock rows.
		 */
		@Override
		boolean isOfCheck(SQLException ex) {
			return Set.of(1205, 1206, 1213, 1020).contains(ex.getErrorCode());
		}

		@Override
		boolean findsTransaction(Statement statement) throws SQLException {
			try (ResultSet rs = statement.executeQuery("SELECT @@in_transaction")) {
				return rs.next() && rs.getBoolean(1);
			}
		}

		@Override
		boolean survivesFailures() {
			return true;
		}

	},

	/**
	 * PostgreSQL with its own driver. The server skips the commit if the check ends in an
	 * error.
	 */
	POSTGRESQL("PostgreSQL", "PostgreSQL JDBC Driver") {

		/**
		 * With savepoints, a failure does not end the transaction; in simple mode, the
		 * statements are sent one after the other.
		 */
		@Override
		boolean isUsable(Connection connection) throws SQLException {
			PGConnection driver = connection.unwrap(PGConnection.class);
			return driver.getAutosave() == AutoSave.NEVER && driver.getPreferQueryMode() != PreferQueryMode.SIMPLE;
		}

		@Override
		String sql(String check, int patience, boolean autoCommit) {
			return """
					SET LOCAL lock_timeout = '%ds';
					SELECT 1 / (SELECT count(*) FROM (%s) AS held);
					SET LOCAL lock_timeout TO DEFAULT;
					COMMIT""".formatted(patience, check);
		}

		@Override
		boolean isLoss(SQLException ex) {
			return "22012".equals(ex.getSQLState());
		}

		@Override
		boolean isLockTimeout(SQLException ex) {
			return "55P03".equals(ex.getSQLState());
		}

		/**
		 * A transaction refuses everything after a failure. If it has ended, the driver
		 * begins another one.
		 */
		@Override
		boolean findsTransaction(Statement statement) throws SQLException {
			try {
				statement.execute("SELECT 1");
				return false;
			}
			catch (SQLException ex) {
				return "25P02".equals(ex.getSQLState());
			}
		}

	};

	private final String product;

	private final String driver;

	CommitStatement(String product, String driver) {
		this.product = product;
		this.driver = driver;
	}

	/**
	 * The statement of a database.
	 * @return the statement, or {@code null} if check and commit have to be sent apart
	 */
	static @Nullable CommitStatement of(Connection connection) throws SQLException {
		DatabaseMetaData metaData = connection.getMetaData();
		for (CommitStatement statement : values()) {
			if (statement.product.equals(metaData.getDatabaseProductName())
					&& statement.driver.equals(metaData.getDriverName()) && statement.isUsable(connection)) {
				return statement;
			}
		}
		return null;
	}

	/**
	 * Whether the driver is set up so that check and commit can be sent together.
	 */
	abstract boolean isUsable(Connection connection) throws SQLException;

	/**
	 * Whether the driver sends the text of a statement each time, and the database parses
	 * it each time, though it could keep the parsed form.
	 */
	boolean sendsTexts(Connection connection) throws SQLException {
		return false;
	}

	/**
	 * The text of the statement.
	 * @param check a SELECT that finds a row if the lease is held, and locks it
	 * @param patience how long to wait for the row, in seconds
	 * @param autoCommit whether auto-commit is switched on after the commit in any case;
	 * a driver that needs a message for that finds it switched on then
	 */
	abstract String sql(String check, int patience, boolean autoCommit);

	/**
	 * Whether a failure of the check says that the lease is not held.
	 */
	abstract boolean isLoss(SQLException ex);

	/**
	 * Whether a failure of the check says that the row was locked for too long.
	 */
	abstract boolean isLockTimeout(SQLException ex);

	/**
	 * Whether a session does not know the name of a parsed form.
	 */
	boolean isUnknownName(SQLException ex) {
		return false;
	}

	/**
	 * Whether the transaction is open still after a failure, so that nothing was
	 * committed. If the database does not answer, this is not known.
	 */
	boolean leavesOpen(Connection connection, SQLException failure) {
		if (isOfCheck(failure)) {
			return false;
		}
		try (Statement statement = connection.createStatement()) {
			return findsTransaction(statement);
		}
		catch (SQLException | RuntimeException ex) {
			failure.addSuppressed(ex);
			return false;
		}
	}

	/**
	 * Whether a failure can only be that of the check, after which nothing of the
	 * transaction can be committed any more.
	 */
	boolean isOfCheck(SQLException ex) {
		return false;
	}

	/**
	 * Whether a transaction that had begun is open still, after a failure.
	 */
	abstract boolean findsTransaction(Statement statement) throws SQLException;

	/**
	 * Whether a transaction can go on after a statement has failed.
	 */
	boolean survivesFailures() {
		return false;
	}

}
