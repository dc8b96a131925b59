package io.github.holdfast.store.session;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.sql.TransactionConnection;

/**
 * The check for locks that belong to a database session: the transaction must run in that
 * session, so that it cannot outlive the lock. Nothing is asked of the database.
 *
 * @since 0.2.0
 */
public final class SessionFence implements Fence {

	private final Supplier<DataSource> dataSource;

	/**
	 * Create a fence.
	 * @param dataSource supplies the DataSource whose connections hold the locks
	 */
	public SessionFence(Supplier<DataSource> dataSource) {
		this.dataSource = dataSource;
	}

	@Override
	public DataSource dataSource() {
		return this.dataSource.get();
	}

	@Override
	public String lossDetail() {
		return "the database session that held it has ended";
	}

	@Override
	public boolean holds(DataSource managed, LockLease lease, boolean readOnly) {
		return TransactionConnection.use(managed, lease.key(), (connection) -> check(connection.get(), lease));
	}

	private static boolean check(Connection connection, LockLease lease) throws SQLException {
		if (connection.isWrapperFor(LockingConnection.class)
				&& connection.unwrap(LockingConnection.class).holds(lease)) {
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
