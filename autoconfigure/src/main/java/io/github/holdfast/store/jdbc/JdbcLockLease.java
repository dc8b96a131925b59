package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

import io.github.holdfast.LockBackend;
import org.jspecify.annotations.Nullable;

/**
 * A lease in a row of {@code holdfast_lock}.
 */
public final class JdbcLockLease implements LockBackend.Lease {

	private static final int LOOKS = 10;

	private static final long LOOK_NANOS = 5_000_000;

	private final OwnConnections connections;

	private final Executor renewals;

	private final String id;

	private final long owner;

	private final long epoch;

	private final long sentAt;

	JdbcLockLease(OwnConnections connections, Executor renewals, String id, long owner, long epoch, long sentAt) {
		this.connections = connections;
		this.renewals = renewals;
		this.id = id;
		this.owner = owner;
		this.epoch = epoch;
		this.sentAt = sentAt;
	}

	@Override
	public long epoch() {
		return this.epoch;
	}

	@Override
	public long sentAt() {
		return this.sentAt;
	}

	/**
	 * Extends the lease in a transaction of its holder, which locks the row.
	 * @param connection the connection of the transaction
	 * @param rows the statements
	 * @param leaseTime the new lease time
	 * @return {@code false} if the lease is lost
	 * @throws SQLException if the database failed
	 */
	public boolean renewIn(Connection connection, LockRows rows, Duration leaseTime) throws SQLException {
		return rows.renew(connection, this.id, this.owner, leaseTime, LockWaits.SHORT);
	}

	/**
	 * Asks whether the lease is still in the row, and locks it.
	 * @param connection the connection of the transaction
	 * @param rows the statements
	 * @param hold how the row is held
	 * @return {@code false} if the lease is lost
	 * @throws SQLException if the database failed
	 */
	public boolean checkIn(Connection connection, LockRows rows, LockRows.Hold hold) throws SQLException {
		return rows.check(connection, this.id, null, this.owner, hold, LockWaits.SHORT);
	}

	/**
	 * Waits for the row for a few milliseconds only. A transaction that has it may be
	 * about to take the lock, and the next attempt comes soon.
	 */
	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return CompletableFuture.supplyAsync(() -> answer("renewed", () -> {
			for (int look = 0; look < LOOKS; look++) {
				Boolean renewed = this.connections
					.<@Nullable Boolean>inTransaction((connection, rows) -> renewUnlocked(connection, rows, leaseTime));
				if (renewed != null) {
					return renewed;
				}
				LockSupport.parkNanos(LOOK_NANOS);
			}
			throw new SQLException("The row is locked by a transaction");
		}), this.renewals);
	}

	private @Nullable Boolean renewUnlocked(Connection connection, LockRows rows, Duration leaseTime)
			throws SQLException {
		boolean locked = rows.lockUnlocked(connection, this.id, LockWaits.SHORT)
				|| rows.find(connection, this.id, LockWaits.SHORT) == null;
		return locked ? rows.renew(connection, this.id, this.owner, leaseTime, LockWaits.SHORT) : null;
	}

	@Override
	public CompletionStage<Boolean> release() {
		return CompletableFuture.completedStage(answer("released", () -> this.connections
			.call((connection, rows) -> rows.release(connection, this.id, this.owner, LockWaits.SHORT))));
	}

	private boolean answer(String what, StatementDeadline.SqlCall<Boolean> question) {
		return LockWaits.ask(this.id, "could not be " + what, () -> this.connections.repeat(question));
	}

}
