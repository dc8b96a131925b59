package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sql.CancellableStatement;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * The statements of those who share a lock, on its row of the lock table.
 *
 * @param id the id of the lock
 * @param leaseTime after what time without a statement their session ends
 */
record SharedRow(String id, Duration leaseTime) {

	/** Who shares a lock does not overtake one that waits to have it alone. */
	private static final String FIND = "SELECT epoch{limit} FROM holdfast_lock WHERE " + LockTable.FREE_ROW
			+ " AND NOT EXISTS (" + RenewalTable.WAITING + ")";

	/**
	 * Lock the row in share mode, if it is there and free, and if nobody waits for all
	 * who share it.
	 * @param wait whether to wait for the transaction that has the row locked
	 * @return the epoch of the row, or {@code null} if it was not locked
	 */
	@Nullable Long lock(Connection connection, SqlDialect dialect, boolean wait, Duration limit) throws SQLException {
		String sql = FIND.replace("{limit}", dialect.andIdleLimit()).replace("{now}", dialect.now())
				+ (wait ? dialect.shareLock() : dialect.shareLockOfUnlocked());
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			int index = 1;
			if (dialect.limitsIdleTransactions()) {
				statement.setString(index++, SqlDialect.idleMillis(this.leaseTime));
			}
			dialect.setKey(statement, index++, this.id);
			dialect.setKey(statement, index, RenewalTable.waitingId(this.id));
			return CancellableStatement.run(statement, wait ? limit : limit.plusSeconds(1), () -> {
				try (ResultSet rs = statement.executeQuery()) {
					return rs.next() ? rs.getLong(1) : null;
				}
			});
		}
	}

	/**
	 * Insert the row, as that of a lock that nobody has.
	 * @return {@code false} if it was there already
	 */
	boolean insert(Connection connection, LockTable table, Duration timeout) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, table.insertVersion(), timeout)) {
			table.dialect().setKey(statement, 1, this.id);
			return statement.executeUpdate() == 1;
		}
	}

}
