package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * A statement whose parsed form MariaDB's sessions keep under a name, for drivers that
 * would send its text each time. Safe for use by many threads.
 */
final class NamedStatement {

	/** The server keeps no more statements, of whatever session. */
	private static final int TOO_MANY = 1461;

	private final String sql;

	private final String preparation;

	private final String execution;

	/**
	 * The connections of the driver whose sessions know the name, with the database in
	 * which these look for the tables.
	 */
	private final Map<Connection, String> prepared = Collections.synchronizedMap(new WeakHashMap<>());

	/**
	 * Create a statement.
	 * @param sql its text, with question marks for parameters only
	 */
	NamedStatement(String sql) {
		String name = "holdfast_" + Integer.toHexString(sql.hashCode());
		long parameters = sql.chars().filter((c) -> c == '?').count();
		this.sql = sql;
		this.preparation = "PREPARE " + name + " FROM '" + sql.replace("'", "''") + "'";
		this.execution = "EXECUTE " + name + " USING " + String.join(", ", Collections.nCopies((int) parameters, "?"));
	}

	/**
	 * What executes this statement, in a session that knows it from now on.
	 */
	PreparedStatement prepare(Connection connection) throws SQLException {
		// First, as it says so if the connection is closed: the pool's stand-in has no
		// hash code
		String database = String.valueOf(connection.getCatalog());
		Connection session = connection.unwrap(Connection.class);
		if (!database.equals(this.prepared.get(session))) {
			if (!introduce(connection)) {
				return connection.prepareStatement(this.sql);
			}
			this.prepared.put(session, database);
		}
		return connection.prepareStatement(this.execution);
	}

	private boolean introduce(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(this.preparation);
			return true;
		}
		catch (SQLException ex) {
			if (ex.getErrorCode() == TOO_MANY) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * A session does not know the name any more.
	 */
	void forgotten(Connection connection) throws SQLException {
		this.prepared.remove(connection.unwrap(Connection.class));
	}

}
