package io.github.holdfast.store.jdbc;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling.Deadline;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Keeps locks as rows of the table {@code holdfast_lock}: leases here, and
 * {@linkplain #transactionLock transaction locks} where a transaction of the same
 * database takes its lock itself.
 */
public final class JdbcLockBackend implements ManageableLockBackend, AutoCloseable {

	/** Assumed for pools that do not report their size. */
	private static final int POOL_SIZE = 10;

	private static final int RENEWAL_THREADS = 2;

	/** Who gets none asks without waiting in the database. */
	private static final long LONGEST_WAIT_FOR_A_PLACE = TimeUnit.MILLISECONDS.toNanos(1);

	private final OwnConnections connections;

	private final LockWaits waits;

	private final ExecutorService renewals;

	/**
	 * Create a backend.
	 * @param dataSource supplies the database with the table, at the first use
	 */
	public JdbcLockBackend(Supplier<DataSource> dataSource) {
		this(dataSource, () -> POOL_SIZE);
	}

	/**
	 * Create a backend.
	 * @param dataSource supplies the database with the table, at the first use
	 * @param poolSize the number of connections; callers wait in half of them at most
	 */
	public JdbcLockBackend(Supplier<DataSource> dataSource, IntSupplier poolSize) {
		this.connections = new OwnConnections(dataSource);
		this.waits = new LockWaits(this.connections, poolSize);
		CustomizableThreadFactory threads = new CustomizableThreadFactory("holdfast-jdbc-renewal-");
		threads.setDaemon(true);
		this.renewals = Executors.newFixedThreadPool(RENEWAL_THREADS, threads);
	}

	/**
	 * Creates a lock that a transaction of this database takes by its first statement.
	 * @param request the key and the wait time
	 * @return the lock, not taken yet
	 */
	public TransactionLock transactionLock(LockRequest request) {
		return new TransactionLock(this.waits, request);
	}

	/**
	 * Reads the version that an optimistic call replaces at its commit.
	 * @param request the key and the wait time
	 * @return the version, or {@code null} if the key was leased for the wait time
	 * @throws InterruptedException if the thread was interrupted
	 */
	public @Nullable VersionLease version(LockRequest request) throws InterruptedException {
		return VersionLease.read(this.waits, LockRows.id(request.key()), request.waitTime().toNanos());
	}

	@Override
	public @Nullable JdbcLockLease acquire(LockRequest request) throws InterruptedException {
		String id = LockRows.id(request.key());
		return LockWaits.poll(request.waitTime().toNanos(), (deadline) -> {
			JdbcLockLease lease = attempt(request, id, deadline);
			try {
				// A purge may delete the row before it is taken
				for (int i = 0; lease == null && i < 5 && this.waits.look(id) == LockWaits.Look.MISSING; i++) {
					lease = attempt(request, id, deadline);
				}
				return lease;
			}
			catch (SQLException ex) {
				throw LockWaits.failed(request.key(), "could not be acquired", ex);
			}
		});
	}

	private @Nullable JdbcLockLease attempt(LockRequest request, String id, Deadline deadline)
			throws InterruptedException {
		for (int broken = 0;; broken++) {
			// A new owner, because a TAKE whose answer was lost may be executed late
			long owner = Owner.randomNumber();
			boolean waits = false;
			try {
				waits = this.waits.enterDatabase(Math.min(LONGEST_WAIT_FOR_A_PLACE, deadline.remainingNanos()));
				long sentAt = System.nanoTime();
				Long epoch = waits ? takeOrWait(request, id, owner, deadline) : takeUnlocked(request, id, owner);
				return (epoch != null) ? new JdbcLockLease(this.connections, this.renewals, id, owner, epoch, sentAt)
						: null;
			}
			catch (SQLException ex) {
				takeBack(id, owner, ex);
				if (this.connections.isTransient(ex)) {
					return null;
				}
				boolean late = broken == OwnConnections.BROKEN_SESSIONS || broken > 0 && deadline.hasPassed();
				if (late || !OwnConnections.isBrokenSession(ex)) {
					throw LockWaits.failed(request.key(), "could not be acquired", ex);
				}
			}
			finally {
				if (waits) {
					this.waits.leaveDatabase();
				}
			}
		}
	}

	/**
	 * On InnoDB the lease counts from the start of the wait, so the wait is limited.
	 */
	private @Nullable Long takeOrWait(LockRequest request, String id, long owner, Deadline deadline)
			throws SQLException {
		long nanos = Math.max(1, Math.min(request.leaseTime().toNanos() / 3, deadline.remainingNanos()));
		return this.connections.<@Nullable Long>call((connection, rows) -> rows.takeLease(connection, id, owner,
				request.owner().description(), request.leaseTime(), nanos));
	}

	private @Nullable Long takeUnlocked(LockRequest request, String id, long owner) throws SQLException {
		return this.connections.<@Nullable Long>inTransaction(
				(connection, rows) -> rows.lockUnlocked(connection, id, LockWaits.SHORT) ? rows.takeLease(connection,
						id, owner, request.owner().description(), request.leaseTime(), LockWaits.SHORT) : null);
	}

	/**
	 * The lease may have been written although the answer was lost, or the statement was
	 * cancelled too late. A cancelled statement is over, so a row that stays locked is
	 * not its own.
	 */
	private void takeBack(String id, long owner, SQLException cause) {
		boolean interrupted = Thread.interrupted();
		try {
			boolean broken = OwnConnections.isBrokenSession(cause);
			if (broken || cause instanceof SQLTimeoutException) {
				long nanos = broken ? LockWaits.SHORT : LockWaits.SHORT / 50;
				this.connections.repeat(
						() -> this.connections.call((connection, rows) -> rows.release(connection, id, owner, nanos)));
			}
		}
		catch (SQLException ex) {
			cause.addSuppressed(ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		String id = LockRows.id(key);
		return LockWaits.<@Nullable LockHolder>ask(key, "could not be looked up",
				() -> this.connections.<@Nullable LockHolder>inTransaction((connection, rows) -> {
					LockRows.Row row = rows.find(connection, id, LockWaits.SHORT);
					if (row == null || row.isLeased()) {
						return (row != null) ? leased(row) : null;
					}
					return rows.lockUnlocked(connection, id, LockWaits.SHORT) ? null
							: LockHolder.of("held by an open transaction of the database");
				}));
	}

	private static LockHolder leased(LockRows.Row row) {
		Instant expires = Instant.EPOCH.plus(row.expiresAt(), ChronoUnit.MICROS);
		return new LockHolder("held by " + row.holder() + ", for another " + (row.expiresAt() - row.now()) / 1000
				+ " ms unless it is renewed", null, expires, row.epoch());
	}

	@Override
	public boolean forceRelease(String key) {
		String id = LockRows.id(key);
		return LockWaits.ask(key, "could not be taken away",
				() -> this.connections.repeat(() -> this.connections.call((connection, rows) -> {
					LockRows.Row row = rows.find(connection, id, LockWaits.SHORT);
					return row != null && row.isLeased() && rows.evict(connection, id, LockWaits.SHORT);
				})));
	}

	@Override
	public Status ping() {
		return LockWaits.ask("holdfast:ping", "could not be looked up", () -> this.connections.call((own, rows) -> {
			LockRows.Row row = rows.find(own, LockRows.id("holdfast:ping"), LockWaits.SHORT);
			return new Status(
					own.getMetaData().getDatabaseProductName() + " " + own.getMetaData().getDatabaseProductVersion(),
					(row != null) ? Instant.EPOCH.plus(row.now(), ChronoUnit.MICROS) : null);
		}));
	}

	/**
	 * The database of the locks.
	 * @return its connections and statements
	 */
	public OwnConnections database() {
		return this.connections;
	}

	@Override
	public String name() {
		return "jdbc";
	}

	/**
	 * Callers may wait for renewals that have not begun.
	 */
	@Override
	public void close() {
		this.renewals.shutdown();
	}

}
