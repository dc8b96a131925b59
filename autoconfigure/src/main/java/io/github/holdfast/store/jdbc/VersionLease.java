package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockBackend;
import org.jspecify.annotations.Nullable;

/**
 * The epoch that an optimistic call has read, to be replaced by its commit. It is read
 * only while no lease is in the row: the holder of a lease commits without a new epoch.
 */
public final class VersionLease implements LockBackend.Lease {

	private final String id;

	private final long epoch;

	private final long sentAt = System.nanoTime();

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

	@Override
	public long sentAt() {
		return this.sentAt;
	}

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return CompletableFuture.completedStage(true);
	}

	@Override
	public CompletionStage<Boolean> release() {
		return CompletableFuture.completedStage(true);
	}

	@Override
	public boolean expires() {
		return false;
	}

}
