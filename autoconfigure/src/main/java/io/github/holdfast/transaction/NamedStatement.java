package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * A statement whose parsed form MariaDB's sessions keep under a name, for drivers that
 * would send its text each time.
 */
final class NamedStatement {

	private final String preparation;

	private final String execution;

	/** The driver's connections to the sessions that know the name. */
	private final Set<Connection> prepared = Collections
		.newSetFromMap(Collections.synchronizedMap(new WeakHashMap<>()));

	/**
	 * Create a statement.
	 * @param sql its text, with question marks for parameters only
	 */
	NamedStatement(String sql) {
		String name = "holdfast_" + Integer.toHexString(sql.hashCode());
		this.preparation = "PREPARE " + name + " FROM '" + sql.replace("'", "''") + "'";
		long parameters = sql.chars().filter((c) -> c == '?').count();
		this.execution = "EXECUTE " + name + " USING " + String.join(", ", Collections.nCopies((int) parameters, "?"));
	}

	/**
	 * What executes this statement in a session that knows it.
	 */
	PreparedStatement prepare(Connection connection) throws SQLException {
		Connection session = connection.unwrap(Connection.class);
		if (!this.prepared.contains(session)) {
			try (Statement statement = connection.createStatement()) {
				statement.execute(this.preparation);
			}
			this.prepared.add(session);
		}
		return connection.prepareStatement(this.execution);
	}

	/**
	 * Prepare a session anew the next time, as it has forgotten the name.
	 */
	void forgotten(Connection connection) throws SQLException {
		this.prepared.remove(connection.unwrap(Connection.class));
	}

}
