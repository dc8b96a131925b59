package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Shortage;

/**
 * Asks a database for its clock.
 *
 * @since 0.2.0
 */
public final class DatabaseProbe {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private DatabaseProbe() {
	}

	/**
	 * Ask the database, on a connection of its own.
	 * @param key the lock that the failure is about
	 * @param locks what keeps the locks there, for people
	 * @param connections opens a connection
	 * @return what the database tells, or {@code null} if the pool has no connection left
	 * @throws LockBackendException if the database is unreachable or did not answer
	 */
	public static LockBackend.@Nullable Status ask(String key, String locks, Opener connections) {
		try (Connection connection = connections.open()) {
			boolean autoCommit = connection.getAutoCommit();
			LockBackend.Status status = new LockBackend.Status(
					locks + " of " + connection.getMetaData().getDatabaseProductName() + " "
							+ connection.getMetaData().getDatabaseProductVersion(),
					now(connection));
			if (!autoCommit) {
				connection.rollback();
			}
			return status;
		}
		catch (SQLException ex) {
			if (Shortage.isIn(ex)) {
				return null;
			}
			throw new LockBackendException(key, "could not be asked for, the database failed", ex);
		}
	}

	private static Instant now(Connection connection) throws SQLException {
		String sql = "SELECT " + SqlDialect.of(connection).now();
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, TIMEOUT);
				ResultSet rs = statement.executeQuery()) {
			rs.next();
			return Instant.EPOCH.plus(rs.getLong(1), ChronoUnit.MICROS);
		}
	}

	/**
	 * Opens connections.
	 */
	@FunctionalInterface
	public interface Opener {

		/**
		 * Open a connection outside of all transactions.
		 * @return the connection
		 * @throws SQLException if there is none
		 */
		Connection open() throws SQLException;

	}

}
