package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.LockKeys;

/**
 * The epochs of locks that sessions hold, in the rows of the lock table.
 */
final class SessionEpochs {

	private static final String RAISE = """
			UPDATE holdfast_lock SET epoch = {epoch}, owner = NULL, holder = ?, acquired_at = {now}, expires_at = {now}
			WHERE lock_key = ?""";

	private static final String INSERT = """
			INSERT INTO holdfast_lock (epoch, holder, lock_key, acquired_at, expires_at, version)
			VALUES ({epoch}, ?, ?, {now}, {now}, 0)""";

	private static final String LAST_HOLDER = "SELECT holder, acquired_at, epoch FROM holdfast_lock WHERE lock_key = ?";

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final int ATTEMPTS = 5;

	private static final int MAX_HOLDER_LENGTH = 255;

	private final SqlDialect dialect;

	private final String raise;

	private final String insert;

	/**
	 * Create the epochs of a database.
	 * @param dialect the words of the database
	 */
	SessionEpochs(SqlDialect dialect) {
		this.dialect = dialect;
		this.raise = resolve(RAISE, dialect.answered("GREATEST(epoch + 1, {now}, ?)"));
		this.insert = resolve(INSERT, dialect.answered("GREATEST({now}, ?)"));
	}

	private String resolve(String sql, String epoch) {
		return sql.replace("{epoch}", epoch).replace("{now}", this.dialect.now());
	}

	/**
	 * Write the next epoch of a key into its row, and return it.
	 * @param connection a connection in auto-commit mode
	 */
	long next(Connection connection, LockRequest request) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return raiseOrInsert(connection, request);
			}
			catch (SQLException ex) {
				if (attempt == ATTEMPTS || !this.dialect.isConcurrencyFailure(ex)) {
					throw ex;
				}
			}
		}
	}

	private long raiseOrInsert(Connection connection, LockRequest request) throws SQLException {
		Long epoch = write(connection, this.raise, request);
		while (epoch == null) {
			try {
				epoch = write(connection, this.insert, request);
			}
			catch (SQLException ex) {
				if (!this.dialect.isDuplicateKey(ex)) {
					throw ex;
				}
				epoch = write(connection, this.raise, request);
			}
		}
		return epoch;
	}

	private @Nullable Long write(Connection connection, String sql, LockRequest request) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepareAnswering(connection, sql, "epoch", TIMEOUT)) {
			statement.setLong(1, request.minEpoch());
			String holder = request.holder();
			statement.setString(2,
					(holder.length() > MAX_HOLDER_LENGTH) ? holder.substring(0, MAX_HOLDER_LENGTH) : holder);
			this.dialect.setKey(statement, 3, LockKeys.id(request.key(), SqlDialect.MAX_KEY_BYTES));
			if (statement.executeUpdate() == 0) {
				return null;
			}
			try (ResultSet rs = statement.getGeneratedKeys()) {
				if (!rs.next()) {
					throw new SQLException("The driver does not tell the epoch that was written");
				}
				return rs.getLong(1);
			}
		}
	}

	/**
	 * Who took a lock last.
	 */
	@Nullable LockHolder lastHolder(Connection connection, String key) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, LAST_HOLDER, Duration.ofSeconds(1))) {
			this.dialect.setKey(statement, 1, LockKeys.id(key, SqlDialect.MAX_KEY_BYTES));
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next() ? new LockHolder(null, "last taken by " + rs.getString(1),
						Instant.EPOCH.plus(rs.getLong(2), ChronoUnit.MICROS), null, rs.getLong(3)) : null;
			}
		}
	}

}
