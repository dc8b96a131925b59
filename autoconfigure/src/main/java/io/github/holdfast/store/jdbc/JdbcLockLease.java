package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.github.holdfast.LockBackend;
import org.jspecify.annotations.Nullable;

/**
 * A lease in a row of {@code holdfast_lock}.
 *
 * @param connections the database
 * @param renewals runs the renewals
 * @param id the key of the row
 * @param owner the owner in the row
 * @param epoch the number of the grant
 * @param sentAt the {@link System#nanoTime()} from before the attempt that won
 */
public record JdbcLockLease(OwnConnections connections, Executor renewals, String id, long owner, long epoch,
		long sentAt) implements LockBackend.Lease {

	private static final int LOOKS = 10;

	private static final long LOOK_NANOS = 5_000_000;

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
		return CompletableFuture
			.supplyAsync(() -> LockWaits.ask(this.id, "could not be renewed", () -> this.connections.repeat(() -> {
				for (int look = 0; look < LOOKS; look++) {
					Boolean renewed = this.connections.<@Nullable Boolean>inTransaction(
							(connection, rows) -> renewUnlocked(connection, rows, leaseTime));
					if (renewed != null) {
						return renewed;
					}
					LockSupport.parkNanos(LOOK_NANOS);
				}
				throw new SQLException("The row is locked by a transaction");
			})), this.renewals);
	}

	private @Nullable Boolean renewUnlocked(Connection connection, LockRows rows, Duration leaseTime)
			throws SQLException {
		boolean locked = rows.lockUnlocked(connection, this.id, LockWaits.SHORT)
				|| rows.find(connection, this.id, LockWaits.SHORT) == null;
		return locked ? rows.renew(connection, this.id, this.owner, leaseTime, LockWaits.SHORT) : null;
	}

	/**
	 * A session that breaks may have released the lock. If a second attempt finds nothing
	 * then, it is unknown whether the lock was lost.
	 */
	@Override
	public CompletionStage<Boolean> release() {
		AtomicReference<@Nullable SQLException> broken = new AtomicReference<>();
		return CompletableFuture.completedStage(
				LockWaits.ask(this.id, "could not be released", () -> this.connections.repeat(() -> release(broken))));
	}

	private boolean release(AtomicReference<@Nullable SQLException> broken) throws SQLException {
		try {
			boolean released = this.connections
				.call((connection, rows) -> rows.release(connection, this.id, this.owner, LockWaits.SHORT));
			if (released || broken.get() == null) {
				return released;
			}
		}
		catch (SQLException ex) {
			broken.set(OwnConnections.isBrokenSession(ex) ? ex : broken.get());
			throw ex;
		}
		throw new SQLException("The session broke before there was an answer", broken.get());
	}

}
