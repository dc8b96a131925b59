package io.github.holdfast.optimistic;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.fence.FenceRows;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.sql.TransactionConnection;
import io.github.holdfast.store.Deadline;

/**
 * The versions of fence rows: read on connections of their own, compared and raised
 * inside of transactions. A row whose version counts has no owner: as long as it has
 * none, and the same epoch, no exclusive holder can have committed since.
 */
final class FenceVersions {

	private static final Logger logger = LoggerFactory.getLogger(FenceVersions.class);

	private static final long LONGEST_COMPARISON_SECONDS = 10;

	private final RowFence fence;

	private final LockConnections<FenceRows> connections;

	FenceVersions(RowFence fence) {
		this.fence = fence;
		this.connections = new LockConnections<>(fence::dataSource, fence::rows);
	}

	/**
	 * Read the version of a key. The row of a new key is made, with a version that no row
	 * before it has had.
	 * @return the version, or {@code null} if the row names an exclusive holder
	 */
	@Nullable VersionLease read(LockRequest request, Deadline deadline, Duration timeout) throws SQLException {
		return this.connections.retry(() -> this.connections.call((connection, rows) -> {
			Row row = find(connection, rows, request.key(), timeout);
			if (row == null) {
				insert(connection, rows, request.key(), timeout);
				row = find(connection, rows, request.key(), timeout);
			}
			return (row != null && row.isFree()) ? new VersionLease(request, this, row.epoch(), row.version(), deadline)
					: null;
		}));
	}

	private static @Nullable Row find(Connection connection, FenceRows rows, String key, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, rows.findVersion(), timeout)) {
			rows.setKey(statement, 1, key);
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next() ? new Row(rs.getLong(1), rs.getLong(2), rs.getString(3)) : null;
			}
		}
	}

	private static void insert(Connection connection, FenceRows rows, String key, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, rows.insertVersion(), timeout)) {
			rows.setKey(statement, 1, key);
			statement.executeUpdate();
		}
	}

	/**
	 * Remove an exclusive holder from the row, where its release does not do that.
	 * @param exclusive the lease of that holder, which is still held
	 */
	void free(LockLease exclusive, Duration timeout) throws SQLException {
		this.connections.retry(() -> this.connections.call((connection, rows) -> {
			String sql = rows.removeHolder();
			return (sql != null) ? free(connection, rows, sql, exclusive, timeout) : 0;
		}));
	}

	private static int free(Connection connection, FenceRows rows, String sql, LockLease exclusive, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			statement.setLong(1, exclusive.epoch());
			statement.setString(2, exclusive.owner());
			rows.setKey(statement, 3, exclusive.key());
			return statement.executeUpdate();
		}
	}

	/**
	 * Check inside a transaction that there was no commit of another one since a version
	 * was read, and replace the version.
	 * @param managed the DataSource of the transaction's manager
	 * @param lease the version
	 * @param readOnly whether the transaction must not change rows, as it changes no
	 * other data either
	 * @return {@code false} if there was another commit, or is one under way
	 */
	boolean isCurrent(DataSource managed, VersionLease lease, boolean readOnly) {
		return TransactionConnection.use(managed, lease.key(), (connection) -> isCurrent(connection, lease, readOnly));
	}

	private boolean isCurrent(TransactionConnection connection, VersionLease lease, boolean readOnly)
			throws SQLException {
		FenceRows rows = this.fence.rows(connection.get());
		String sql = readOnly ? rows.compareVersion() : rows.raiseVersion();
		long seconds = Math.min(lease.patience().toSeconds() + 1, LONGEST_COMPARISON_SECONDS);
		try (PreparedStatement statement = connection.prepare(sql, Duration.ofSeconds(seconds))) {
			rows.setVersion(statement, lease.epoch(), lease.version(), lease.key());
			if (!readOnly) {
				return statement.executeUpdate() == 1;
			}
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next();
			}
		}
		catch (SQLException ex) {
			SqlDialect dialect = rows.dialect();
			if (dialect.isConcurrencyFailure(ex) || dialect.isTimeout(ex)) {
				logger.debug("A version was not compared, as another commit has the row locked", ex);
				return false;
			}
			throw ex;
		}
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
