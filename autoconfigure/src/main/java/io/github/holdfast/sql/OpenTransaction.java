package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.SQLException;

import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.jspecify.annotations.Nullable;
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

	/** In front of the name that an application has given to its session. */
	private static final String MARK = "holdfast: ";

	private static final boolean POSTGRESQL = isPresent("org.postgresql.core.BaseConnection");

	private static final boolean MARIADB = isPresent("org.mariadb.jdbc.Connection");

	private static final boolean H2 = isPresent("org.h2.jdbc.JdbcConnection");

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
	 * The session that a connection works in now: drivers with failover let it go on with
	 * another one. Does no I/O.
	 * @param connection the connection
	 * @return the session, which is the same object as long as it lasts, or {@code null}
	 * if the driver does not tell, or it has ended
	 */
	public static @Nullable Object session(Connection connection) {
		try {
			if (connection.isClosed()) {
				return null;
			}
			if (POSTGRESQL && connection.isWrapperFor(BaseConnection.class)) {
				return connection.unwrap(BaseConnection.class);
			}
			if (MARIADB && connection.isWrapperFor(org.mariadb.jdbc.Connection.class)) {
				return connection.unwrap(org.mariadb.jdbc.Connection.class).getContext();
			}
			return (H2 && connection.isWrapperFor(JdbcConnection.class))
					? connection.unwrap(JdbcConnection.class).getSession() : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * The name of a session while its transaction is marked, see {@link #marked}.
	 * @param connection the connection
	 * @return the name, or {@code null} if the driver does not tell it
	 * @throws SQLException if the driver fails
	 */
	static @Nullable String mark(Connection connection) throws SQLException {
		NamedSession session = NamedSession.of(connection);
		if (session == null) {
			return null;
		}
		return session.isMarked() ? session.name.substring(MARK.length()) : MARK + session.name;
	}

	/**
	 * The transaction of a connection, if a statement has marked it and its driver is
	 * told by the database when it ends, whoever has ended it. Does no I/O.
	 * @param connection the connection, which may come to work in another session
	 * @return the transaction, which equals itself as long as it lasts, or {@code null}
	 * if none is marked, or a statement has failed in it, so that a COMMIT would be a
	 * ROLLBACK of which the driver does not tell
	 * @see SqlDialect#marking()
	 */
	public static @Nullable Object marked(Connection connection) {
		try {
			NamedSession session = NamedSession.of(connection);
			return (session != null && session.isMarked() && !isAborted(connection)) ? session : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * Whether a statement has failed in a transaction, so that a COMMIT would be a
	 * ROLLBACK. Does no I/O.
	 * @param connection the connection
	 * @return {@code false} also if the driver does not tell
	 */
	public static boolean isAborted(Connection connection) {
		try {
			return POSTGRESQL && connection.isWrapperFor(BaseConnection.class)
					&& connection.unwrap(BaseConnection.class).getTransactionState() == TransactionState.FAILED;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Whether something may have been changed in a transaction that has not been
	 * committed. Does no I/O.
	 * @param connection the connection, which is not in auto-commit mode
	 * @return {@code true} also if the driver does not tell
	 * @throws SQLException if the driver fails
	 */
	public static boolean mayHaveChanges(Connection connection) throws SQLException {
		if (H2 && connection.isWrapperFor(JdbcConnection.class)
				&& connection.unwrap(JdbcConnection.class).getSession() instanceof SessionLocal session) {
			return session.hasPendingTransaction();
		}
		return mayBeOn(connection);
	}

	/**
	 * Whether something may have been changed in a transaction that has not been
	 * committed, or read, so that what is read later may be as old: above READ COMMITTED
	 * from the snapshot of the transaction, else from the memory of a JPA or MyBatis
	 * session. H2 does not tell of reads: at READ COMMITTED, nobody is taken to have
	 * read. Does no I/O.
	 * @param connection the connection, which is not in auto-commit mode
	 * @return {@code true} also if the driver does not tell
	 * @throws SQLException if the driver fails
	 */
	public static boolean mayHaveReads(Connection connection) throws SQLException {
		return mayHaveChanges(connection) || (H2 && connection.isWrapperFor(JdbcConnection.class)
				&& connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED);
	}

	/**
	 * The name that a session has now.
	 */
	private record NamedSession(Object session, String name) {

		private static @Nullable NamedSession of(Connection connection) throws SQLException {
			if (!POSTGRESQL || !connection.isWrapperFor(BaseConnection.class)) {
				return null;
			}
			BaseConnection session = connection.unwrap(BaseConnection.class);
			String name = session.getClientInfo("ApplicationName");
			return (name != null) ? new NamedSession(session, name) : null;
		}

		private boolean isMarked() {
			return this.name.startsWith(MARK);
		}

	}

}
