package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.support.Deadline;

/**
 * Reads the versions of fence rows, on connections of its own. A row whose version counts
 * has no owner: as long as it has none, and the same epoch, no exclusive holder can have
 * committed since.
 */
final class FenceVersions {

	private static final String FIND = "SELECT epoch, version, owner FROM ";

	private final FenceRows rows;

	private final LockConnections<SqlDialect> connections;

	FenceVersions(Supplier<DataSource> dataSource, FenceRows rows) {
		this.rows = rows;
		this.connections = new LockConnections<>(dataSource, (dialect) -> dialect);
	}

	/**
	 * Read the version of a key. The row of a new key is made, with a version that no row
	 * before it has had.
	 * @return the version, or {@code null} if the row names an exclusive holder
	 */
	@Nullable VersionLease read(LockRequest request, Deadline deadline, Duration timeout) throws SQLException {
		return this.connections.retry(() -> this.connections.call((connection, dialect) -> {
			Row row = find(connection, dialect, request.key(), timeout);
			if (row == null) {
				insert(connection, dialect, request.key(), timeout);
				row = find(connection, dialect, request.key(), timeout);
			}
			return (row != null && row.isFree()) ? new VersionLease(request, row.epoch(), row.version(), deadline)
					: null;
		}));
	}

	private @Nullable Row find(Connection connection, SqlDialect dialect, String key, Duration timeout)
			throws SQLException {
		String sql = FIND + this.rows.table() + " WHERE " + this.rows.condition();
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			this.rows.setCondition(dialect, statement, 1, key);
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next() ? new Row(rs.getLong(1), rs.getLong(2), rs.getString(3)) : null;
			}
		}
	}

	private void insert(Connection connection, SqlDialect dialect, String key, Duration timeout) throws SQLException {
		String sql = this.rows.insertFree(dialect);
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			this.rows.setCondition(dialect, statement, 1, key);
			statement.executeUpdate();
		}
	}

	/**
	 * Remove an exclusive holder from the row, so that it cannot commit any more and does
	 * not stand for later ones. In the lock table its release does that.
	 * @param exclusive the lease of that holder, which is still held
	 */
	void free(LockLease exclusive, Duration timeout) throws SQLException {
		if (this.rows.source() == null) {
			return;
		}
		String sql = "UPDATE " + this.rows.table() + " SET owner = '' WHERE epoch = ? AND owner = ? AND "
				+ this.rows.condition();
		this.connections.retry(() -> this.connections.call((connection, dialect) -> {
			try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
				statement.setLong(1, exclusive.epoch());
				statement.setString(2, exclusive.owner());
				this.rows.setCondition(dialect, statement, 3, exclusive.key());
				return statement.executeUpdate();
			}
		}));
	}

	/**
	 * What a fence row says.
	 *
	 * @param epoch the epoch of the last exclusive holder
	 * @param version how many optimistic commits there were, from some number on
	 * @param owner the exclusive holder, if there may be one
	 */
	private record Row(long epoch, long version, @Nullable String owner) {

		boolean isFree() {
			return this.owner == null || this.owner.isEmpty();
		}

	}

}
