package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.support.LockSession;

/**
 * The check for locks that belong to a database session: the transaction must run in that
 * session, so that it cannot outlive the lock. Nothing is asked of the database.
 *
 * @since 0.1.0
 */
public final class SessionFence extends Fence {

	/**
	 * Create a fence.
	 * @param dataSource supplies the DataSource whose connections hold the locks
	 */
	public SessionFence(Supplier<DataSource> dataSource) {
		super(dataSource);
	}

	@Override
	boolean spansPools() {
		return false;
	}

	@Override
	public boolean hasRows() {
		return false;
	}

	@Override
	String lossDetail() {
		return "the database session that held it has ended";
	}

	@Override
	boolean check(DataSource managed, Connection connection, LockLease lease, boolean readOnly) throws SQLException {
		if (connection.isWrapperFor(LockSession.class) && connection.unwrap(LockSession.class).holds(lease)) {
			return true;
		}
		if (lease.isValid()) {
			throw new IllegalStateException("Lock " + LockException.quote(lease.key())
					+ " is held by another connection than that of the transaction, which was rolled back. "
					+ "With 'holdfast.jdbc.mode=session' only one transaction at a time can run under a lock, on the "
					+ "connection of the lock: avoid REQUIRES_NEW and transactions in AFTER_COMMIT listeners under it, "
					+ "connections that are open when the transaction begins, as with open-in-view, and other "
					+ "DataSources; or set 'holdfast.jdbc.mode' to 'table'");
		}
		return false;
	}

}
