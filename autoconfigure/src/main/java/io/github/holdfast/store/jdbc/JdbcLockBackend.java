package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.sql.DatabaseProbe;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.LockKeys;
import io.github.holdfast.store.Polling;
import io.github.holdfast.store.Releases;
import io.github.holdfast.store.Shortage;

/**
 * Locks as rows of the table {@code holdfast_lock}, for PostgreSQL, MySQL, MariaDB and
 * H2. One row per key; the epoch in it is also the fence that a commit is checked
 * against. Renewals are rows of the table {@code holdfast_renewal}, so that the row of a
 * holder does not change while its transaction reads from a snapshot.
 *
 * <ol>
 * <li>At first, write owner and the next epoch if the row is there and free, without
 * having read it, and without waiting for others who have it locked. On MySQL, which
 * would wait, this step is left out.
 * <li>Read the row without locking it. Another holder's lease that has not run out by the
 * database's clock means: wait and read again. From now on a waiter does not write, so it
 * never blocks behind a commit that has the row locked.
 * <li>No row: insert one. If another one was faster, read again.
 * <li>Free: write owner and the next epoch, on condition that the epoch is still the one
 * that was read.
 * <li>Lease run out: the same in a short transaction that first locks the row, unless it
 * is locked: then the holder's transaction is about to commit, or its lease is being
 * renewed, and the lock is not free.
 * </ol>
 *
 * <p>
 * A renewal and a take-over never both succeed. A renewal is one statement that locks the
 * lock row until it is committed, in share mode where there is one, and writes its own
 * row only if epoch and owner are still those of the lease. A take-over looks for a
 * renewal when it has the lock row locked, and in another statement than the one that
 * locked it. So a renewal that had the row locked before is committed by then and is
 * seen; one that comes later waits, and finds another epoch. A single conditional UPDATE
 * would not do: it may have waited for the row with a snapshot from before the renewal.
 * Everybody locks the lock row first, and share locks do not exclude each other, so a
 * renewal neither waits for the check of a commit (except on H2) nor is it part of a
 * deadlock with it.
 *
 * <p>
 * Who shares a lock has its row locked in share mode, by a transaction that lasts until
 * the release. That is all: the row stays as it is, so those who would take it pass it
 * over, or wait for it, as they do while a transaction that takes its lock itself has it
 * locked.
 *
 * <p>
 * Only the database's clock is used. The epoch is never behind that clock in
 * microseconds, so that it rises even after rows have been deleted. Each step is a
 * transaction of its own on a connection of its own.
 *
 * @since 0.2.0
 */
public final class JdbcLockBackend implements LockBackend, AutoCloseable {

	static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	private static final Duration SHORT = Duration.ofSeconds(5);

	private static final Duration LOOK = Duration.ofSeconds(1);

	/** A free row may be locked for a moment, by a late renewal or a purge. */
	static final int LAST_LOOKS = 5;

	/** How long those who share a lock let one pass who waits, unless it asks again. */
	private static final Duration ANNOUNCED = LOOK.multipliedBy(2);

	/** Of most pools. */
	private static final int CONNECTIONS = 10;

	private final LockConnections<LockTable> connections;

	private final PoolShare share;

	private final boolean takenByTransactions;

	private final Releases releases = new Releases();

	private final Supplier<DataSource> dataSource;

	/**
	 * Create a backend on a pool of ten connections, as most pools have. What depends on
	 * their number are shared locks.
	 * @param dataSource supplies the database, at the first use
	 */
	public JdbcLockBackend(Supplier<DataSource> dataSource) {
		this(dataSource, () -> CONNECTIONS);
	}

	/**
	 * Create a backend.
	 * @param dataSource supplies the database, at the first use
	 * @param connections supplies how many connections the pool has, of which shared
	 * locks keep half at most
	 */
	public JdbcLockBackend(Supplier<DataSource> dataSource, IntSupplier connections) {
		this(dataSource, connections, false);
	}

	private JdbcLockBackend(Supplier<DataSource> dataSource, IntSupplier connections, boolean takenByTransactions) {
		this.dataSource = dataSource;
		this.connections = new LockConnections<>(dataSource, LockTable::new);
		this.share = new PoolShare(connections);
		this.takenByTransactions = takenByTransactions;
	}

	/**
	 * Create a backend whose locks are taken by the business transactions themselves,
	 * where its {@link #fence()} lets them. It excludes, and is excluded by, any other
	 * backend on the same table.
	 * @param dataSource supplies the database, at the first use
	 * @param connections supplies how many connections the pool has, of which shared
	 * locks and those who wait in the database keep half at most
	 * @return the backend
	 */
	public static JdbcLockBackend takenByTransactions(Supplier<DataSource> dataSource, IntSupplier connections) {
		return new JdbcLockBackend(dataSource, connections, true);
	}

	/**
	 * The check of commits against the lock table, and the locks that transactions take
	 * there themselves, if they do.
	 * @return the fence
	 */
	public RowFence fence() {
		return this.takenByTransactions ? new RowFence(this.dataSource, LockTable::new, new RowClaims(this.share))
				: fence(this.dataSource);
	}

	/**
	 * The check of commits against the lock table.
	 * @param dataSource supplies the database of the lock table
	 * @return the fence
	 */
	public static RowFence fence(Supplier<DataSource> dataSource) {
		return new RowFence(dataSource, LockTable::new);
	}

	/**
	 * Check that the lock table is there, with all its columns.
	 * @throws SQLException if it is not
	 */
	public void checkTable() throws SQLException {
		this.connections.execute(LockTable.CHECK);
	}

	/**
	 * Check that rows of the lock table may be inserted and updated, without doing so.
	 * @throws SQLException if they may not
	 */
	public void checkWritable() throws SQLException {
		this.connections.execute(LockTable.CHECK_INSERT, LockTable.CHECK_UPDATE);
	}

	/**
	 * Check that the table of the renewals is there, with all its columns.
	 * @throws SQLException if it is not
	 */
	public void checkRenewalTable() throws SQLException {
		this.connections.execute(RenewalTable.CHECK);
	}

	/**
	 * Check that rows of the table of the renewals may be inserted and updated, without
	 * doing so.
	 * @throws SQLException if they may not
	 */
	public void checkRenewalWritable() throws SQLException {
		this.connections.execute(RenewalTable.CHECK_INSERT, RenewalTable.CHECK_UPDATE);
	}

	/**
	 * The dialect of the database.
	 * @return the dialect
	 * @throws SQLException if the database is unreachable
	 */
	public SqlDialect dialect() throws SQLException {
		return this.connections.dialect();
	}

	/**
	 * A lock that its transaction takes itself asks for nothing here, so that it is free
	 * of any wait.
	 */
	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		if (isTakenByTransaction(request)) {
			SqlDialect dialect = this.connections.knownDialect();
			return new RowLease(request, dialect != null && dialect.freesRowsEarly(),
					(epoch) -> lease(request, LockKeys.id(request.key(), SqlDialect.MAX_KEY_BYTES), epoch,
							Deadline.ofLease(request.leaseTime())));
		}
		if (request.mode() == LockRequest.Mode.SHARED) {
			return new SharedAcquisition(this.connections, this.share, request).run();
		}
		Acquisition acquisition = new Acquisition(request);
		try {
			return POLLING.until(request.waitTime(), acquisition::attempt);
		}
		finally {
			acquisition.end();
		}
	}

	private LockLease lease(LockRequest request, String id, long epoch, Deadline deadline) {
		return new JdbcLockLease(this, request, id, epoch, deadline);
	}

	boolean renew(LockRequest request, String id, long epoch, Duration leaseTime) {
		Duration timeout = Answers.renewalTimeout(leaseTime, Duration.ZERO);
		try {
			return this.connections.retryInAnySession(() -> this.connections.call((connection,
					table) -> table.renewals().renew(connection, id, epoch, request.owner(), leaseTime, timeout)));
		}
		catch (SQLException ex) {
			throw new LockBackendException(request.key(), "could not be renewed, the lock table failed", ex);
		}
	}

	CompletableFuture<Boolean> release(LockRequest request, String id, Deadline end) {
		return release(request, end, () -> this.connections.retry(() -> free(request, id, SHORT)));
	}

	/**
	 * Release what may have been written; whether it was does not matter. The caller has
	 * waited for long enough already.
	 */
	private CompletableFuture<Boolean> abandon(LockRequest request, String id) {
		return release(request, Deadline.after(request.leaseTime()),
				() -> this.connections.retryInAnySession(() -> free(request, id, LOOK)));
	}

	private boolean free(LockRequest request, String id, Duration timeout) throws SQLException {
		return this.connections.call((connection, table) -> table.release(connection, id, request.owner(), timeout));
	}

	private CompletableFuture<Boolean> release(LockRequest request, Deadline end,
			LockConnections.SqlCall<Boolean> release) {
		return this.releases.run(request.key(), end, () -> {
			try {
				return CompletableFuture.completedFuture(release.run());
			}
			catch (SQLException ex) {
				return CompletableFuture.failedFuture(
						new LockBackendException(request.key(), "could not be released, the lock table failed", ex));
			}
		});
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		try {
			String id = LockKeys.id(key, SqlDialect.MAX_KEY_BYTES);
			return this.connections.call((connection, table) -> {
				LockTable.Row row = table.find(connection, id, LOOK);
				return (row.exists() && row.owner() == null && table.locks().isLocked(connection, id, LOOK))
						? row.lockedBy() : row.heldBy();
			});
		}
		catch (SQLException ex) {
			throw new LockBackendException(key, "could not be looked up, the lock table failed", ex);
		}
	}

	/**
	 * The row is the one that commits are checked against, so to free it keeps the holder
	 * from committing, too.
	 */
	@Override
	public Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		String id = LockKeys.id(key, SqlDialect.MAX_KEY_BYTES);
		Eviction eviction = POLLING.until(LOOK, (deadline) -> {
			try {
				return this.connections.retry(() -> this.connections.inTransaction((connection, table) -> {
					LockTable.Row row = table.find(connection, id, LOOK);
					LockHolder holder = row.heldBy();
					if (holder == null && row.exists() && table.locks().isLocked(connection, id, LOOK)) {
						return Eviction.IN_TRANSACTION;
					}
					if (holder == null || !holder.isOf(owner, epoch)) {
						return Eviction.NOT_HELD;
					}
					return table.removeHolder(connection, id, owner, epoch, LOOK) ? Eviction.EVICTED : null;
				}));
			}
			catch (SQLException ex) {
				throw new LockBackendException(key, "could not be taken away, the lock table failed", ex);
			}
		});
		return (eviction != null) ? eviction : Eviction.IN_TRANSACTION;
	}

	@Override
	public @Nullable Status probe(String key) {
		return DatabaseProbe.ask(key, "the lock table", this.connections::open);
	}

	/**
	 * A lease is not for one whose transaction takes the lock itself.
	 */
	@Override
	public boolean serves(LockLease lease, LockRequest request) {
		return !isTakenByTransaction(request);
	}

	private boolean isTakenByTransaction(LockRequest request) {
		return this.takenByTransactions && request.claims() && request.mode() == LockRequest.Mode.EXCLUSIVE;
	}

	/**
	 * As far as is known: what the database is, the first connection tells.
	 */
	@Override
	public Set<Capability> capabilities() {
		SqlDialect dialect = this.connections.knownDialect();
		return (dialect == null || dialect.sharesRowLocks()) ? Set.of(Capability.SHARED) : Set.of();
	}

	@Override
	public Duration noticeTime() {
		return POLLING.longest();
	}

	/**
	 * Stops what is still tried again because the database has failed.
	 */
	@Override
	public void close() {
		this.releases.close();
	}

	@Override
	public String name() {
		return "jdbc";
	}

	@Override
	public String toString() {
		return "backend 'jdbc'";
	}

	/**
	 * The attempts to get one lock.
	 */
	private final class Acquisition {

		private final LockRequest request;

		private final String id;

		private boolean written;

		private boolean first = true;

		/** When to see whether the transaction that has the row locked hangs. */
		private Deadline nextLook = Deadline.PASSED;

		private boolean waits;

		private boolean announced;

		private Acquisition(LockRequest request) {
			this.request = request;
			this.id = LockKeys.id(request.key(), SqlDialect.MAX_KEY_BYTES);
		}

		/**
		 * A session that had ended says nothing about the lock, so another one is asked.
		 */
		private @Nullable LockLease attempt(Deadline deadline) throws InterruptedException {
			for (int broken = 0;; broken++) {
				try {
					return JdbcLockBackend.this.connections.retry(() -> tryAcquire(deadline.remaining()));
				}
				catch (SQLException ex) {
					boolean contended = this.written && JdbcLockBackend.this.connections.is(ex, SqlDialect::isTimeout)
							|| JdbcLockBackend.this.connections.is(ex, SqlDialect::isConcurrencyFailure);
					boolean another = broken < LockConnections.BROKEN_SESSIONS && LockConnections.isBrokenSession(ex);
					// What is tried again must not meet a later attempt of the same owner
					boolean abandoned = !this.written || abandon(ex);
					if (Thread.interrupted()) {
						throw (InterruptedException) new InterruptedException().initCause(ex);
					}
					if (!abandoned || !contended && !another) {
						throw new LockBackendException(this.request.key(),
								"could not be acquired, the lock table failed" + Shortage.remedy(ex), ex);
					}
					if (contended) {
						return null;
					}
				}
			}
		}

		private @Nullable LockLease tryAcquire(Duration timeout) throws SQLException {
			this.written = false;
			Deadline deadline = Deadline.ofLease(this.request.leaseTime());
			LockTable.Grant taken = this.first ? takeUnread(timeout) : null;
			if (taken == null) {
				taken = readAndTake(timeout);
			}
			return (taken != null) ? lease(this.request, this.id, taken.epoch(), deadline) : null;
		}

		/**
		 * In a transaction of its own, which locks nothing any more when a row is
		 * inserted.
		 */
		private LockTable.@Nullable Grant takeUnread(Duration timeout) throws SQLException {
			this.first = false;
			return JdbcLockBackend.this.connections.dialect().skipsLocked()
					? JdbcLockBackend.this.connections.call((connection, table) -> takeFree(connection, table, timeout))
					: null;
		}

		private LockTable.@Nullable Grant takeFree(Connection connection, LockTable table, Duration timeout)
				throws SQLException {
			this.written = true;
			LockTable.Grant taken = table.takeFree(connection, this.id, grant(this.request.minEpoch()), timeout);
			this.written = taken != null;
			return taken;
		}

		private LockTable.@Nullable Grant readAndTake(Duration timeout) throws SQLException {
			LockTable.Row row = JdbcLockBackend.this.connections
				.call((connection, table) -> table.find(connection, this.id, timeout));
			if (!row.exists()) {
				return JdbcLockBackend.this.connections
					.call((connection, table) -> insert(connection, table, row.epoch(), row.now(), timeout));
			}
			if (row.isExpired()) {
				return JdbcLockBackend.this.connections
					.inTransaction((connection, table) -> takeExpired(connection, table, row, timeout));
			}
			return (row.owner() == null) ? takeFree(row, timeout) : null;
		}

		/**
		 * Take a row that was free when it was read, unless a transaction has it locked.
		 * A row that has just been purged is no other holder's.
		 */
		private LockTable.@Nullable Grant takeFree(LockTable.Row row, Duration timeout) throws SQLException {
			LockTable.Grant taken = takeFree(timeout);
			for (int look = 0; taken == null && timeout.isZero() && look < LAST_LOOKS; look++) {
				LockSupport.parkNanos(POLLING.first().toNanos());
				taken = takeFree(timeout);
			}
			if (taken == null && this.nextLook.hasPassed()) {
				this.nextLook = Deadline.after(LOOK);
				JdbcLockBackend.this.connections
					.call((connection, table) -> table.locks().endIdleHolder(connection, this.id, row, timeout));
				if (this.waits && JdbcLockBackend.this.connections.dialect().sharesRowLocks()) {
					announce(ANNOUNCED, timeout);
				}
				this.waits = true;
			}
			if (taken == null) {
				taken = awaitFree(timeout);
			}
			return (taken != null) ? taken : JdbcLockBackend.this.connections.call((connection, table) -> {
				LockTable.Row again = table.find(connection, this.id, timeout);
				return again.exists() ? null : insert(connection, table, row.epoch(), again.now(), timeout);
			});
		}

		/**
		 * Wait in the database, as transactions do that take the lock themselves: they
		 * hand the row on, and leave nothing to those who ask for it now and then. Not
		 * for long, as the lease begins before. In a transaction, so that what is
		 * cancelled has not taken it, and one that the database ends if this process
		 * hangs before it is committed.
		 */
		private LockTable.@Nullable Grant awaitFree(Duration timeout) throws SQLException {
			Duration third = this.request.leaseTime().dividedBy(3);
			Duration wait = Stream.of(timeout, third, RowLocks.LONGEST_WAIT)
				.min(Comparator.naturalOrder())
				.orElseThrow();
			if (wait.isZero() || !JdbcLockBackend.this.connections.dialect().cancelsWaits()
					|| !JdbcLockBackend.this.share.take()) {
				return null;
			}
			try {
				return JdbcLockBackend.this.connections.inTransaction(this.request.leaseTime(),
						(connection, table) -> awaitFree(connection, table, wait));
			}
			catch (SQLException ex) {
				if (this.written || Thread.currentThread().isInterrupted()
						|| !JdbcLockBackend.this.connections.is(ex, SqlDialect::isTimeout)) {
					throw ex;
				}
				return null;
			}
			finally {
				JdbcLockBackend.this.share.giveBack();
			}
		}

		private LockTable.@Nullable Grant awaitFree(Connection connection, LockTable table, Duration wait)
				throws SQLException {
			this.written = false;
			LockTable.Grant taken = table.awaitFree(connection, this.id, grant(this.request.minEpoch()), wait);
			this.written = taken != null;
			return taken;
		}

		/**
		 * Where those who share a lock come one after the other, the row is never without
		 * any of them.
		 */
		private void announce(Duration time, Duration timeout) throws SQLException {
			this.announced = !time.isZero();
			JdbcLockBackend.this.connections
				.call((connection, table) -> table.renewals().announceWaiter(connection, this.id, time, timeout));
		}

		private void end() {
			if (this.announced) {
				try {
					announce(Duration.ZERO, SHORT);
				}
				catch (SQLException ex) {
					// It runs out by itself
				}
			}
		}

		private LockTable.@Nullable Grant takeFree(Duration timeout) throws SQLException {
			return JdbcLockBackend.this.connections.dialect().skipsLocked()
					? JdbcLockBackend.this.connections.call((connection, table) -> takeFree(connection, table, timeout))
					: JdbcLockBackend.this.connections
						.inTransaction((connection, table) -> takeFree(connection, table, timeout));
		}

		private LockTable.@Nullable Grant insert(Connection connection, LockTable table, long lastEpoch, long now,
				Duration timeout) throws SQLException {
			LockTable.Grant grant = grant(lastEpoch, now);
			this.written = true;
			boolean taken = table.insert(connection, this.id, now, grant, timeout);
			this.written = taken;
			return taken ? grant : null;
		}

		private LockTable.@Nullable Grant takeExpired(Connection connection, LockTable table, LockTable.Row row,
				Duration timeout) throws SQLException {
			LockTable.Grant grant = grant(row.epoch(), row.now());
			this.written = true;
			boolean taken = table.takeExpired(connection, this.id, row.epoch(), grant, timeout);
			this.written = taken;
			return taken ? grant : null;
		}

		private LockTable.Grant grant(long lastEpoch, long now) {
			return grant(Math.max(Math.max(lastEpoch + 1, now), this.request.minEpoch()));
		}

		private LockTable.Grant grant(long epoch) {
			return new LockTable.Grant(epoch, this.request.owner(), this.request.holder(), this.request.leaseTime());
		}

		/**
		 * Take back what a statement may have written although its answer was lost.
		 * @return {@code false} if that has failed as well
		 */
		private boolean abandon(SQLException cause) {
			boolean interrupted = Thread.interrupted();
			try {
				JdbcLockBackend.this.abandon(this.request, this.id).join();
				return true;
			}
			catch (CompletionException ex) {
				cause.addSuppressed((ex.getCause() != null) ? ex.getCause() : ex);
				return false;
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

	}

}
