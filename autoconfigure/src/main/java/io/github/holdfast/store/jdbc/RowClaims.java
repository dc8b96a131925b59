package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.fence.FenceClaims;
import io.github.holdfast.sql.SqlDialect;

/**
 * The locks that business transactions take by their first statement: they lock the row
 * of the lock, if it is free, and keep it locked to their end.
 *
 * <p>
 * Who waits for a row has a connection. So they wait for a short time, and not more of
 * them than a part of the pool has connections: the others, and those who need several
 * rows, give their transaction back and wait for a lease.
 */
final class RowClaims implements FenceClaims {

	private final PoolShare share;

	private volatile @Nullable RowLocks locks;

	/**
	 * Create claims.
	 * @param share the connections that may wait in the database
	 */
	RowClaims(PoolShare share) {
		this.share = share;
	}

	@Override
	public boolean isPending(LockLease lease) {
		return lease instanceof RowLease row && row.isPending();
	}

	@Override
	public boolean claim(Connection connection, List<LockLease> leases, boolean mayWait) {
		RowLocks locks = null;
		try {
			locks = locks(connection);
			List<RowLease> rows = new ArrayList<>(leases.size());
			leases.forEach((lease) -> rows.add((RowLease) lease));
			return lock(connection, locks, rows, mayWait);
		}
		catch (SQLException ex) {
			if (locks != null && (locks.dialect().isConcurrencyFailure(ex) || locks.dialect().isTimeout(ex))) {
				return false;
			}
			throw new LockBackendException(leases.get(0).key(),
					"could not be taken, the lock table failed, so the transaction was rolled back", ex);
		}
	}

	private boolean lock(Connection connection, RowLocks locks, List<RowLease> leases, boolean mayWait)
			throws SQLException {
		if (leases.size() > 1) {
			return locks.lockAll(connection, leases);
		}
		RowLease lease = leases.get(0);
		Duration wait = mayWait ? lease.deadline().remaining() : Duration.ZERO;
		if (wait.isZero() || !locks.waits() || !this.share.take()) {
			return locks.lock(connection, lease);
		}
		try {
			return locks.awaitLock(connection, lease, wait);
		}
		finally {
			this.share.giveBack();
		}
	}

	private RowLocks locks(Connection connection) throws SQLException {
		RowLocks locks = this.locks;
		if (locks == null) {
			locks = new RowLocks(SqlDialect.of(connection));
			this.locks = locks;
		}
		return locks;
	}

	/**
	 * One that was not taken at all is not to be tried again.
	 */
	@Override
	public boolean lost(LockLease lease) {
		boolean pending = isPending(lease);
		if (lease instanceof RowLease row) {
			row.over(RowLease.State.LOST);
		}
		return pending;
	}

	@Override
	public void keep(Connection connection, List<LockLease> leases) {
		RowLocks locks = Objects.requireNonNull(this.locks);
		try {
			for (LockLease lease : leases) {
				locks.keep(connection, (RowLease) lease);
			}
		}
		catch (SQLException ex) {
			if (locks.dialect().isConcurrencyFailure(ex)) {
				throw new CannotAcquireLockException("The database has rolled the transaction back in favour of "
						+ "another one, before its commit. The lock was not lost: try again", ex);
			}
			throw new LockBackendException(leases.get(0).key(),
					"could not be kept for the callbacks of the transaction, so that was rolled back", ex);
		}
	}

	@Override
	public void committed(List<LockLease> leases) {
		leases.forEach((lease) -> ((RowLease) lease).committed());
	}

	@Override
	public void rolledBack(List<LockLease> leases) {
		leases.forEach((lease) -> ((RowLease) lease).over(RowLease.State.ENDED));
	}

}
