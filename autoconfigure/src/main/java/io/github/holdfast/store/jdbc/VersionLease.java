package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.github.holdfast.core.LockGuard;
import org.jspecify.annotations.Nullable;

/**
 * The epoch that an optimistic call has read, to be replaced by its commit. It is read
 * only while no lease is in the row: the holder of a lease commits without a new epoch.
 */
public final class VersionLease implements LockGuard.TransactionBound {

	private final String id;

	private final long epoch;

	private VersionLease(String id, long epoch) {
		this.id = id;
		this.epoch = epoch;
	}

	static @Nullable VersionLease read(LockWaits waits, String id, long nanos) throws InterruptedException {
		return LockWaits.poll(nanos, (deadline) -> {
			try {
				if (waits.look(id) == LockWaits.Look.RUN_OUT) {
					waits.expire(id);
				}
				LockRows.Row row = waits.connections().<LockRows
					.@Nullable Row>call((connection, rows) -> rows.find(connection, id, LockWaits.SHORT));
				return (row != null && row.expiresAt() == 0) ? new VersionLease(id, row.epoch()) : null;
			}
			catch (SQLException ex) {
				throw LockWaits.failed(id, "could not be read", ex);
			}
		});
	}

	/**
	 * Replaces the version in the transaction that is about to commit.
	 * @param connection the connection of the transaction
	 * @param rows the statements
	 * @return {@code false} if another commit came first
	 * @throws SQLException if the database failed
	 */
	public boolean advance(Connection connection, LockRows rows) throws SQLException {
		return rows.advance(connection, this.id, this.epoch, LockWaits.SHORT);
	}

	@Override
	public long epoch() {
		return this.epoch;
	}

}
