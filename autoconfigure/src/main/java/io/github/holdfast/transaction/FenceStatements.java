package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * The statements on the table {@code holdfast_fence}. None of them waits for a
 * transaction of a holder.
 */
final class FenceStatements {

	static final String CHECK = "SELECT source, lock_key, epoch, owner, version FROM holdfast_fence WHERE 1 = 0";

	static final String CHECK_INSERT = """
			INSERT INTO holdfast_fence (source, lock_key, epoch, owner, version)
			SELECT source, lock_key, epoch, owner, version FROM holdfast_fence WHERE 1 = 0""";

	static final String CHECK_UPDATE = "UPDATE holdfast_fence SET epoch = epoch, owner = owner, version = version WHERE 1 = 0";

	private static final String FIND = "SELECT epoch, owner FROM holdfast_fence WHERE ";

	private static final String LOCK = " FOR UPDATE SKIP LOCKED";

	private static final String UPDATE = "UPDATE holdfast_fence SET epoch = ?, owner = ? WHERE ";

	private static final String INSERT = "INSERT INTO holdfast_fence (epoch, owner, version, lock_key, source) VALUES (?, ?, 0, ?, ?)";

	private final FenceRows rows;

	private final SqlDialect dialect;

	FenceStatements(FenceRows rows, SqlDialect dialect) {
		this.rows = rows;
		this.dialect = dialect;
	}

	@Nullable FenceEntry find(Connection connection, String key, Duration timeout) throws SQLException {
		return find(connection, FIND + this.rows.condition(), key, timeout);
	}

	/**
	 * Find the row of a lock and lock it, unless another transaction has it locked.
	 */
	@Nullable FenceEntry lock(Connection connection, String key, Duration timeout) throws SQLException {
		return find(connection, FIND + this.rows.condition() + LOCK, key, timeout);
	}

	private @Nullable FenceEntry find(Connection connection, String sql, String key, Duration timeout)
			throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			this.rows.setCondition(this.dialect, statement, 1, key);
			try (ResultSet rs = statement.executeQuery()) {
				return rs.next() ? new FenceEntry(rs.getLong(1), rs.getString(2)) : null;
			}
		}
	}

	void update(Connection connection, LockLease lease, Duration timeout) throws SQLException {
		write(connection, UPDATE + this.rows.condition(), lease, timeout);
	}

	/**
	 * Insert the row of a lock. Fails with a duplicate key if another one was faster.
	 */
	void insert(Connection connection, LockLease lease, Duration timeout) throws SQLException {
		write(connection, INSERT, lease, timeout);
	}

	private void write(Connection connection, String sql, LockLease lease, Duration timeout) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, sql, timeout)) {
			statement.setLong(1, lease.epoch());
			statement.setString(2, lease.owner());
			this.rows.setCondition(this.dialect, statement, 3, lease.key());
			statement.executeUpdate();
		}
	}

}
