package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.jspecify.annotations.Nullable;

/**
 * A statement that checks a lease and commits, where the driver then has nothing left to
 * send for {@link Connection#commit()}: it knows from each answer whether a transaction
 * is open.
 */
enum CommitStatement {

	/**
	 * MariaDB with its own driver. Unlike a time-out for the statement, one for row locks
	 * cannot strike in the commit. A driver that takes auto-commit for switched on need
	 * not do so.
	 */
	MARIADB("MariaDB", "MariaDB Connector/J", "45F01") {

		@Override
		String sql(String check, int patience, boolean autoCommit) {
			return "SET STATEMENT innodb_lock_wait_timeout = " + patience + " FOR BEGIN NOT ATOMIC IF NOT EXISTS ("
					+ check + ") THEN SIGNAL SQLSTATE '45F01' SET MESSAGE_TEXT = 'The lock is lost'; END IF; COMMIT; "
					+ (autoCommit ? "SET autocommit = 1; " : "") + "END";
		}

		/**
		 * A commit waits for no row.
		 */
		@Override
		boolean isDeadlock(SQLException ex) {
			return "40001".equals(ex.getSQLState());
		}

		@Override
		boolean findsTransaction(Statement statement) throws SQLException {
			try (ResultSet rs = statement.executeQuery("SELECT @@in_transaction")) {
				return rs.next() && rs.getBoolean(1);
			}
		}

	},

	/**
	 * PostgreSQL with its own driver. The server skips the commit if the check fails. A
	 * time-out for the statement would end the wait for a standby, and report success.
	 */
	POSTGRESQL("PostgreSQL", "PostgreSQL JDBC Driver", "22012") {

		@Override
		String sql(String check, int patience, boolean autoCommit) {
			return "SET LOCAL lock_timeout = '" + patience + "s'; SELECT 1 / (SELECT count(*) FROM (" + check
					+ ") AS held); COMMIT";
		}

		/**
		 * A transaction refuses everything after a failure. The driver begins another one
		 * if it has ended.
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

	private final String lostState;

	CommitStatement(String product, String driver, String lostState) {
		this.product = product;
		this.driver = driver;
		this.lostState = lostState;
	}

	/**
	 * The statement of a database.
	 * @return the statement, or {@code null} if check and commit have to be sent apart
	 */
	static @Nullable CommitStatement of(Connection connection) throws SQLException {
		DatabaseMetaData metaData = connection.getMetaData();
		for (CommitStatement statement : values()) {
			if (statement.product.equals(metaData.getDatabaseProductName())
					&& statement.driver.equals(metaData.getDriverName())) {
				return statement;
			}
		}
		return null;
	}

	/**
	 * The text of the statement.
	 * @param check a SELECT that finds a row if the lease is held, and locks it
	 * @param patience how long to wait for the row, in seconds
	 * @param autoCommit whether auto-commit is switched on after the commit in any case
	 */
	abstract String sql(String check, int patience, boolean autoCommit);

	/**
	 * Whether a failure says that the lease is not held. Then nothing was committed.
	 */
	boolean isLoss(SQLException ex) {
		return this.lostState.equals(ex.getSQLState());
	}

	/**
	 * Whether it was the check that failed, and not the commit: the transaction is still
	 * open, so that nothing was committed. If the database does not answer, this is not
	 * known.
	 */
	boolean failedBeforeCommit(Connection connection, SQLException ex) {
		if (isDeadlock(ex)) {
			return true;
		}
		try (Statement statement = connection.createStatement()) {
			return findsTransaction(statement);
		}
		catch (SQLException ignored) {
			return false;
		}
	}

	/**
	 * Whether a failure can only be that of the check, after which the transaction was
	 * rolled back.
	 */
	boolean isDeadlock(SQLException ex) {
		return false;
	}

	abstract boolean findsTransaction(Statement statement) throws SQLException;

}
