package io.github.holdfast.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.OwnTransaction;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.LockKeys;
import io.github.holdfast.store.Shortage;

/**
 * The attempts to share one lock.
 *
 * <p>
 * Who holds it has a connection, and who waits for it in the database, too. Who finds no
 * place for one in the {@link PoolShare} asks again later, without a connection.
 */
final class SharedAcquisition {

	/** How long one waits in the database, in the queue of those who want the row. */
	private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

	private final LockConnections<LockTable> connections;

	private final PoolShare share;

	private final LockRequest request;

	private final String id;

	private final SharedRow row;

	private boolean first = true;

	private boolean hasWaited;

	private boolean crowded;

	private Deadline nextLook = Deadline.PASSED;

	SharedAcquisition(LockConnections<LockTable> connections, PoolShare share, LockRequest request) {
		this.connections = connections;
		this.share = share;
		this.request = request;
		this.id = LockKeys.id(request.key(), SqlDialect.MAX_KEY_BYTES);
		this.row = new SharedRow(this.id, request.leaseTime());
	}

	/**
	 * Acquire the lock.
	 * @return the lease, or {@code null} if another one had it alone, or waited to have
	 * it, for the whole wait time
	 * @throws RejectedExecutionException if there was no place for a connection
	 */
	@Nullable LockLease run() throws InterruptedException {
		LockLease lease = JdbcLockBackend.POLLING.until(this.request.waitTime(), this::attempt);
		if (lease == null && this.crowded) {
			throw new RejectedExecutionException("Each lock that is held shared keeps a connection, and "
					+ this.share.size() + " connections, half of the pool, are kept already by shared locks and by "
					+ "threads that wait for a lock in the database: enlarge the pool, or lock for a shorter time");
		}
		return lease;
	}

	private @Nullable LockLease attempt(Deadline deadline) throws InterruptedException {
		LockLease lease = null;
		checkSupported();
		this.crowded = !this.share.take(JdbcLockBackend.POLLING.longest());
		if (this.crowded) {
			return null;
		}
		try {
			lease = this.connections.retryInAnySession(() -> tryAcquire(deadline));
			return lease;
		}
		catch (SQLException ex) {
			if (this.connections.is(ex, SqlDialect::isConcurrencyFailure) && !Thread.currentThread().isInterrupted()) {
				return null;
			}
			throw failed(ex);
		}
		finally {
			if (lease == null) {
				this.share.giveBack();
			}
		}
	}

	/**
	 * Never shared by one holder only, which looks as if it worked.
	 */
	private void checkSupported() throws InterruptedException {
		if (this.share.size() == 0) {
			throw new UnsupportedOperationException("Lock " + LockException.quote(this.request.key())
					+ " keeps a connection while it is held shared, and the pool has no other one for its holder. "
					+ "Let the pool have two connections at least");
		}
		try {
			SqlDialect dialect = this.connections.retryInAnySession(this.connections::dialect);
			if (!dialect.sharesRowLocks()) {
				throw new UnsupportedOperationException("Lock " + LockException.quote(this.request.key())
						+ " cannot be shared, as " + dialect + " has no shared row locks. Lock "
						+ "exclusively, or use a database that has them (PostgreSQL, MariaDB, MySQL)");
			}
		}
		catch (SQLException ex) {
			throw failed(ex);
		}
	}

	private LockBackendException failed(SQLException ex) throws InterruptedException {
		if (Thread.interrupted()) {
			throw (InterruptedException) new InterruptedException().initCause(ex);
		}
		return new LockBackendException(this.request.key(),
				"could not be acquired, the lock table failed" + Shortage.remedy(ex), ex);
	}

	private @Nullable LockLease tryAcquire(Deadline deadline) throws SQLException {
		if (this.first) {
			this.first = false;
			LockLease lease = lock(false, deadline);
			if (lease != null) {
				return lease;
			}
		}
		LockTable.Row row = this.connections
			.call((connection, table) -> table.find(connection, this.id, deadline.remaining()));
		if (row.exists() && row.owner() != null && !(row.isExpired() && freed(row, deadline))) {
			return null;
		}
		if (!row.exists()) {
			this.connections.call((connection, table) -> this.row.insert(connection, table, deadline.remaining()));
		}
		return lockFree(row, deadline);
	}

	/**
	 * Lock a row that was free when it was read. For a moment it may be locked by a purge
	 * or by somebody who looks at it.
	 */
	private @Nullable LockLease lockFree(LockTable.Row row, Deadline deadline) throws SQLException {
		boolean wait = !this.hasWaited && !deadline.hasPassed();
		this.hasWaited |= wait;
		LockLease lease = lock(wait, deadline);
		for (int look = 0; lease == null && deadline.hasPassed() && look < JdbcLockBackend.LAST_LOOKS; look++) {
			LockSupport.parkNanos(JdbcLockBackend.POLLING.first().toNanos());
			lease = lock(false, deadline);
		}
		if (lease == null && this.nextLook.hasPassed()) {
			this.nextLook = Deadline.after(LONGEST_WAIT);
			this.connections.call(
					(connection, table) -> table.locks().endIdleHolder(connection, this.id, row, deadline.remaining()));
		}
		return lease;
	}

	private @Nullable LockLease lock(boolean wait, Deadline deadline) throws SQLException {
		SqlDialect dialect = this.connections.dialect();
		OwnTransaction transaction = this.connections.begin();
		LockLease lease = null;
		try {
			lease = lock(transaction, dialect, wait, deadline.remaining());
			return lease;
		}
		finally {
			if (lease == null) {
				transaction.end(dialect.unlimitIdle());
			}
		}
	}

	private @Nullable LockLease lock(OwnTransaction transaction, SqlDialect dialect, boolean wait, Duration rest)
			throws SQLException {
		Duration leaseTime = this.request.leaseTime();
		Deadline end = Deadline.ofLease(leaseTime);
		if (!dialect.limitsIdleTransactions()) {
			transaction.execute(dialect.limitIdle(leaseTime));
		}
		Long epoch = wait ? awaitLock(transaction, dialect, rest)
				: this.row.lock(transaction.connection(), dialect, false, rest);
		if (epoch == null) {
			return null;
		}
		if (wait) {
			// Of the wait nobody knows how long it was
			end = Deadline.ofLease(leaseTime);
			transaction.execute(dialect.limitIdle(leaseTime));
		}
		return new SharedRowLease(this.request, epoch, end, transaction, dialect, this.share);
	}

	private @Nullable Long awaitLock(OwnTransaction transaction, SqlDialect dialect, Duration rest)
			throws SQLException {
		try {
			return this.row.lock(transaction.connection(), dialect, true,
					(rest.compareTo(LONGEST_WAIT) < 0) ? rest : LONGEST_WAIT);
		}
		catch (SQLException ex) {
			if (Thread.currentThread().isInterrupted() || !dialect.isTimeout(ex)) {
				throw ex;
			}
			return null;
		}
	}

	/**
	 * Free a row whose lease has run out, unless its holder's commit or a renewal has it
	 * locked: as if somebody had taken it, and released it at once. In one transaction,
	 * so that nobody who shares the lock meets another one who does so.
	 */
	private boolean freed(LockTable.Row row, Deadline deadline) throws SQLException {
		LockTable.Grant grant = new LockTable.Grant(Math.max(row.epoch() + 1, row.now()), this.request.owner(),
				this.request.holder(), this.request.leaseTime());
		return this.connections.inTransaction(
				(connection, table) -> table.takeExpired(connection, this.id, row.epoch(), grant, deadline.remaining())
						&& table.release(connection, this.id, grant.owner(), deadline.remaining()));
	}

}
