package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.SQLException;

import org.mariadb.jdbc.util.constants.ServerStatus;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

import org.springframework.util.ClassUtils;

/**
 * The transaction that may be open on a connection which is not in auto-commit mode, also
 * if nobody has begun one: a pool has looked after the connection while it was idle, or
 * somebody has prepared it, with a statement. What is read in it may be as old as that
 * statement. JDBC does not tell whether there is one, but some drivers know from each
 * answer of the database.
 *
 * @since 0.2.0
 */
public final class OpenTransaction {

	private static final boolean POSTGRESQL = isPresent("org.postgresql.core.BaseConnection");

	private static final boolean MARIADB = isPresent("org.mariadb.jdbc.Connection");

	private OpenTransaction() {
	}

	private static boolean isPresent(String driver) {
		return ClassUtils.isPresent(driver, OpenTransaction.class.getClassLoader());
	}

	/**
	 * Whether a transaction may be open, in which nothing need have been changed. Does no
	 * I/O.
	 * @param connection the connection, which is not in auto-commit mode
	 * @return {@code true} also if the driver does not tell
	 * @throws SQLException if the driver fails
	 */
	public static boolean mayBeOn(Connection connection) throws SQLException {
		if (POSTGRESQL && connection.isWrapperFor(BaseConnection.class)) {
			return connection.unwrap(BaseConnection.class).getTransactionState() != TransactionState.IDLE;
		}
		if (MARIADB && connection.isWrapperFor(org.mariadb.jdbc.Connection.class)) {
			int status = connection.unwrap(org.mariadb.jdbc.Connection.class).getContext().getServerStatus();
			return (status & ServerStatus.IN_TRANSACTION) != 0;
		}
		return true;
	}

	/**
	 * End it, unless nothing that is read in it is old, as a change to auto-commit mode
	 * and back would, so that settings which were made in it stay. Those that PostgreSQL
	 * has made for the transaction only ({@code SET LOCAL}) stay where it is at READ
	 * COMMITTED, and each statement sees what is committed when it begins. Others are not
	 * asked for their level: MariaDB tells that of the next transaction, and each needs a
	 * round trip to tell it.
	 * @param connection a connection that has just been opened, or on which a transaction
	 * has just begun, and that is not in auto-commit mode
	 * @throws SQLException if the driver fails
	 */
	public static void endOn(Connection connection) throws SQLException {
		if (mayBeOn(connection) && !isAtReadCommittedInPostgres(connection)) {
			connection.commit();
		}
	}

	private static boolean isAtReadCommittedInPostgres(Connection connection) throws SQLException {
		return POSTGRESQL && connection.isWrapperFor(BaseConnection.class)
				&& connection.getTransactionIsolation() <= Connection.TRANSACTION_READ_COMMITTED;
	}

}
