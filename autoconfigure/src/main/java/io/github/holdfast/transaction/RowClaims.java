package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockBackend.Lease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.Grant;
import io.github.holdfast.store.jdbc.FenceRows;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockLease;
import io.github.holdfast.store.jdbc.LockRows;
import io.github.holdfast.store.jdbc.LockRows.Hold;
import io.github.holdfast.store.jdbc.OwnConnections;
import io.github.holdfast.store.jdbc.TransactionLock;
import io.github.holdfast.store.jdbc.VersionLease;
import org.jspecify.annotations.Nullable;

/**
 * The rows that transactions claim: leases of the backend {@code jdbc}, or rows that
 * stand for the grants of another store.
 */
public final class RowClaims {

	private final @Nullable JdbcLockBackend jdbc;

	private final @Nullable FenceRows fence;

	private final boolean transactionLocks;

	private RowClaims(@Nullable JdbcLockBackend jdbc, @Nullable FenceRows fence, boolean transactionLocks) {
		this.jdbc = jdbc;
		this.fence = fence;
		this.transactionLocks = transactionLocks;
	}

	/**
	 * The rows of the backend {@code jdbc}.
	 * @param backend the backend
	 * @param transactionLocks whether transactions take locks themselves
	 * @return the rows
	 */
	public static RowClaims of(JdbcLockBackend backend, boolean transactionLocks) {
		return new RowClaims(backend, null, transactionLocks);
	}

	/**
	 * The rows of another store.
	 * @param dataSource supplies the database with the table, at the first use
	 * @param backend the name of the store
	 * @return the rows
	 */
	public static RowClaims of(Supplier<DataSource> dataSource, String backend) {
		return new RowClaims(null, new FenceRows(dataSource, backend), false);
	}

	OwnConnections database() {
		return (this.jdbc != null) ? this.jdbc.database() : fence().database();
	}

	LockRows rows() {
		return database().rows();
	}

	/**
	 * Whether a transaction of this isolation level may wait for its row.
	 * @param isolation a constant of {@link Connection}, or -1 for that of the pool
	 */
	boolean mayWait(int isolation) {
		return rows().dialect().readsFreshAfterWait((isolation < 0) ? database().isolation() : isolation);
	}

	boolean hasTransactionLocks() {
		return this.transactionLocks;
	}

	/**
	 * Whether leases already are rows, so that they need no installation.
	 */
	boolean areLeases() {
		return this.jdbc != null;
	}

	private JdbcLockBackend jdbc() {
		if (this.jdbc == null) {
			throw new UnsupportedOperationException("Optimistic locks need 'holdfast.backend: jdbc'");
		}
		return this.jdbc;
	}

	private FenceRows fence() {
		return Objects.requireNonNull(this.fence, "The backend 'jdbc' has no other rows");
	}

	TransactionLock pending(LockRequest request) {
		return jdbc().transactionLock(request);
	}

	@Nullable VersionLease version(LockRequest request) throws InterruptedException {
		return jdbc().version(request);
	}

	boolean install(Grant grant, long nanos) throws InterruptedException {
		return areLeases() || fence().install(grant, nanos);
	}

	void exclude(String key, long epoch) {
		if (this.fence != null) {
			this.fence.exclude(key, epoch);
		}
	}

	/**
	 * Whether the row of a grant was missing. It is there now.
	 */
	boolean wasMissing(Grant grant, String key) {
		return this.fence != null && this.fence.insertIfMissing(grant, key);
	}

	/**
	 * Locks the row of a lease by the first statement of a transaction.
	 * @return {@code false} if the row is missing or names a later holder
	 */
	boolean claim(Grant grant, OpenTransaction transaction) throws SQLException {
		Connection connection = transaction.connection();
		return (grant.lease() instanceof JdbcLockLease lease) ? lease.renewIn(connection, rows(), grant.renewalTime())
				: fence().claim(grant, connection, rows(), Hold.of(transaction.hasSnapshot()));
	}

	/**
	 * Asks whether a transaction still has the row of a grant that it has claimed.
	 */
	boolean check(Grant grant, OpenTransaction transaction) throws SQLException {
		Connection connection = transaction.connection();
		Lease lease = grant.lease();
		if (lease instanceof TransactionLock lock) {
			return lock.checkIn(connection, rows());
		}
		Hold hold = Hold.of(transaction.hasSnapshot());
		return (lease instanceof JdbcLockLease own) ? own.checkIn(connection, rows(), hold)
				: fence().check(grant, connection, rows(), hold);
	}

}
