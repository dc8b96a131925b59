package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.store.Polling.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a transaction takes by its first statement. The row is locked until COMMIT
 * or ROLLBACK, which is the release; a process that dies frees it at once.
 *
 * <p>
 * The first attempt simply begins the transaction. If it does not get the row, the
 * transaction is rolled back, and {@link #awaitAttempt} waits outside it.
 */
public final class TransactionLock implements LockGuard.PendingLease {

	private final LockWaits waits;

	private final String key;

	private final String id;

	private final Deadline deadline;

	private long owner;

	private boolean waitsInDatabase;

	private boolean attempted;

	private volatile @Nullable Connection connection;

	private volatile boolean over;

	TransactionLock(LockWaits waits, LockRequest request) {
		this.waits = waits;
		this.key = request.key();
		this.id = LockRows.id(request.key());
		this.deadline = Deadline.after(request.waitTime());
	}

	@Override
	public boolean awaitAttempt(long nanos) throws InterruptedException {
		leaveDatabase();
		if (this.attempted && !awaitFree(nanos)) {
			return false;
		}
		// The row can be free although callers that wait for other rows have all places
		long most = Math.min(this.attempted ? LockWaits.SHORT / 100 : 1, this.deadline.remainingNanos());
		this.waitsInDatabase = this.waits.enterDatabase(most);
		if (this.attempted && !this.waitsInDatabase) {
			TimeUnit.NANOSECONDS.sleep(most / 10);
		}
		this.attempted = true;
		return true;
	}

	/**
	 * Waits until there is no lease in the row. A row that only another transaction has
	 * locked is worth another attempt if there is time.
	 */
	private boolean awaitFree(long nanos) throws InterruptedException {
		return LockWaits.<Boolean>poll(nanos, (deadline) -> {
			try {
				return switch (this.waits.look(this.id)) {
					case MISSING -> true;
					case FREE -> deadline.hasPassed() ? null : true;
					case RUN_OUT -> this.waits.expire(this.id) ? true : null;
					case LEASED -> null;
				};
			}
			catch (SQLException ex) {
				throw LockWaits.failed(this.key, "could not be acquired", ex);
			}
		}) != null;
	}

	/**
	 * Takes the lock by the first statement of a transaction.
	 * @param connection the connection of the transaction
	 * @param rows the statements
	 * @param mostNanos how long the transaction may wait
	 * @return {@code false} if the row is missing, leased, or was locked for the wait
	 * time
	 * @throws SQLException if the database failed
	 */
	public boolean take(Connection connection, LockRows rows, long mostNanos) throws SQLException {
		this.owner = Owner.randomNumber();
		try {
			long nanos = this.waitsInDatabase ? Math.min(mostNanos, Math.max(1, this.deadline.remainingNanos()))
					: LockWaits.SHORT;
			this.connection = (this.waitsInDatabase || rows.lockUnlocked(connection, this.id, nanos))
					&& rows.take(connection, this.id, this.owner, nanos) ? connection : null;
			return this.connection != null;
		}
		catch (SQLException ex) {
			if (rows.dialect().isTransient(ex)) {
				return false;
			}
			throw ex;
		}
		finally {
			leaveDatabase();
		}
	}

	private void leaveDatabase() {
		if (this.waitsInDatabase) {
			this.waitsInDatabase = false;
			this.waits.leaveDatabase();
		}
	}

	/**
	 * Checks whether a transaction still has the row. Before the COMMIT, the owner is
	 * visible only to this transaction, so there is no need to wait for a row that
	 * another one has locked.
	 * @param connection the connection of the transaction that took the lock
	 * @param rows the statements
	 * @return {@code false} if the database has rolled the transaction back
	 * @throws SQLException if the database failed
	 */
	public boolean checkIn(Connection connection, LockRows rows) throws SQLException {
		return rows.check(connection, this.id, null, this.owner, LockRows.Hold.OWN, LockWaits.SHORT);
	}

	/**
	 * Notes that the transaction did not take all of its locks, so that another attempt
	 * may follow.
	 */
	public void rolledBack() {
		this.connection = null;
	}

	/**
	 * Notes that the transaction has ended, and the lock with it.
	 */
	public void over() {
		this.over = true;
		this.connection = null;
	}

	/**
	 * Read in the transaction, on demand.
	 */
	@Override
	public long epoch() {
		Connection connection = this.connection;
		if (connection == null) {
			throw new IllegalStateException("The transaction of lock '" + this.key
					+ "' has ended, and the lock with it: read the fencing token in the transaction");
		}
		// An interrupt would cancel the question
		boolean interrupted = Thread.interrupted();
		try {
			Long epoch = LockWaits.<@Nullable Long>ask(this.key, "has a fencing token that could not be read",
					() -> this.waits.connections().rows().epoch(connection, this.id, LockWaits.SHORT));
			return (epoch != null) ? epoch : 0;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public CompletionStage<Boolean> release() {
		leaveDatabase();
		over();
		return CompletableFuture.completedStage(true);
	}

	@Override
	public boolean isAlive() {
		return !this.over;
	}

}
