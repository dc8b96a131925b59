package io.github.holdfast.store.session;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.Digest;

/**
 * How a database keeps locks in its sessions.
 */
enum SessionDialect {

	/** Advisory locks, which each database of a server has for itself. */
	POSTGRESQL(List.of(SqlDialect.POSTGRESQL), "SELECT pg_try_advisory_lock(?::bigint)", """
			SELECT CASE WHEN set_config('lock_timeout', ?, true) IS NOT NULL
				THEN pg_advisory_lock(?::bigint)::text IS NOT NULL END""", "SELECT pg_advisory_unlock(?::bigint)",
			"SELECT pg_backend_pid()", Set.of("55P03", "57014"), Set.of("40P01"),
			Set.of("57P01", "57P02", "57P05", "25P03")) {

		@Override
		String namespace(Connection connection) {
			return "";
		}

		@Override
		String id(byte[] hash) {
			return Long.toString(ByteBuffer.wrap(hash).getLong());
		}

		@Override
		void setWait(PreparedStatement statement, String id, Duration wait) throws SQLException {
			statement.setString(1, wait.plusNanos(999_999).toMillis() + "ms");
			statement.setString(2, id);
		}

		@Override
		String code(SQLException ex) {
			return String.valueOf(ex.getSQLState());
		}

	},

	/** {@code GET_LOCK} of MySQL and MariaDB, whose names a server has only once. */
	MYSQL(List.of(SqlDialect.MARIADB, SqlDialect.MYSQL), "SELECT GET_LOCK(?, 0)", "SELECT GET_LOCK(?, ?)",
			"SELECT RELEASE_LOCK(?)", "SELECT CONNECTION_ID()", Set.of("1317", "1969", "3024"), Set.of("1213", "3058"),
			Set.of("1927")) {

		@Override
		String namespace(Connection connection) throws SQLException {
			return String.valueOf(connection.getCatalog()).toLowerCase(Locale.ROOT);
		}

		@Override
		String id(byte[] hash) {
			return "holdfast:" + HexFormat.of().formatHex(hash, 0, 24);
		}

		@Override
		void setWait(PreparedStatement statement, String id, Duration wait) throws SQLException {
			statement.setString(1, id);
			statement.setDouble(2, wait.toMillis() / 1000.0);
		}

		@Override
		String code(SQLException ex) {
			return String.valueOf(ex.getErrorCode());
		}

	};

	private static final Duration SHORT = Duration.ofSeconds(5);

	private final List<SqlDialect> dialects;

	private final String tryLock;

	private final String lock;

	private final String unlock;

	private final String sessionId;

	private final SessionEpochs epochs;

	private final Set<String> waitEndedCodes;

	private final Set<String> deadlockCodes;

	private final Set<String> terminatedCodes;

	SessionDialect(List<SqlDialect> dialects, String tryLock, String lock, String unlock, String sessionId,
			Set<String> waitEndedCodes, Set<String> deadlockCodes, Set<String> terminatedCodes) {
		this.dialects = dialects;
		this.tryLock = tryLock;
		this.lock = lock;
		this.unlock = unlock;
		this.sessionId = sessionId;
		this.epochs = new SessionEpochs(dialects.get(0));
		this.waitEndedCodes = waitEndedCodes;
		this.deadlockCodes = deadlockCodes;
		this.terminatedCodes = terminatedCodes;
	}

	static SessionDialect of(Connection connection) throws SQLException {
		SqlDialect dialect = SqlDialect.of(connection);
		for (SessionDialect candidate : values()) {
			if (candidate.dialects.contains(dialect)) {
				return candidate;
			}
		}
		throw new LockConfigurationException(
				"The database '" + connection.getMetaData().getDatabaseProductName()
						+ "' has no locks that belong to a session.",
				"Set 'holdfast.jdbc.mode' to 'table', or use PostgreSQL, MySQL or MariaDB.");
	}

	/**
	 * What tells the locks of one lock table from those of others on the same server.
	 */
	abstract String namespace(Connection connection) throws SQLException;

	/**
	 * The name of a lock, as the database takes it. Two keys may have the same one.
	 */
	final String id(String namespace, String key) {
		return id(Digest.SHA_256.of(("holdfast\0" + namespace + "\0" + key).getBytes(StandardCharsets.UTF_8)));
	}

	abstract String id(byte[] hash);

	abstract void setWait(PreparedStatement statement, String id, Duration wait) throws SQLException;

	abstract String code(SQLException ex);

	/**
	 * Whether the driver tells the database at once when auto-commit is switched.
	 */
	boolean sendsAutoCommit() {
		return this == MYSQL;
	}

	boolean tryLock(Connection connection, String id) throws SQLException {
		return ask(connection, this.tryLock, id);
	}

	/**
	 * The statement that waits for a lock. It answers false or fails with an
	 * {@link #isEndOfWait} if there was none in time.
	 */
	PreparedStatement prepareLock(Connection connection, String id, Duration wait) throws SQLException {
		PreparedStatement statement = LockConnections.prepare(connection, this.lock, wait.plus(SHORT));
		setWait(statement, id, wait);
		return statement;
	}

	boolean unlock(Connection connection, String id) throws SQLException {
		return ask(connection, this.unlock, id);
	}

	/**
	 * Ask what the database answers at once. A time-out would cost it more than the
	 * answer.
	 */
	private static boolean ask(Connection connection, String sql, String id) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setString(1, id);
			return answer(statement);
		}
	}

	static boolean answer(PreparedStatement statement) throws SQLException {
		try (ResultSet rs = statement.executeQuery()) {
			return rs.next() && rs.getBoolean(1);
		}
	}

	/**
	 * Whether a statement that waits for a lock has ended without it, as its time was
	 * over or it was cancelled.
	 */
	boolean isEndOfWait(SQLException ex) {
		return this.waitEndedCodes.contains(code(ex));
	}

	/**
	 * Whether the database has ended a deadlock by giving up this wait.
	 */
	boolean isDeadlock(SQLException ex) {
		return this.deadlockCodes.contains(code(ex));
	}

	/**
	 * Whether the database has ended a session instead of doing what it was asked for.
	 */
	boolean isTerminated(SQLException ex) {
		return this.terminatedCodes.contains(code(ex));
	}

	SessionEpochs epochs() {
		return this.epochs;
	}

	/**
	 * What tells one session from others.
	 */
	long sessionId(Connection connection) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, this.sessionId, SHORT);
				ResultSet rs = statement.executeQuery()) {
			rs.next();
			return rs.getLong(1);
		}
	}

}
