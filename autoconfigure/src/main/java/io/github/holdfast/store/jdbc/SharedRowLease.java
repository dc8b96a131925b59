package io.github.holdfast.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.OwnTransaction;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.ExpiringLease;

/**
 * A row of the lock table that a transaction of our own has locked in share mode, until
 * the lock is released. The database ends that transaction when it has heard nothing of
 * it for the lease time. Its epoch is that of the last holder who had the lock alone.
 */
final class SharedRowLease extends ExpiringLease {

	private static final Logger logger = LoggerFactory.getLogger(SharedRowLease.class);

	private final OwnTransaction transaction;

	private final SqlDialect dialect;

	private final PoolShare share;

	private boolean over;

	/**
	 * Create a lease.
	 * @param transaction has the row locked, and ends with the lease
	 * @param share has a place for its connection, which is given back then
	 */
	SharedRowLease(LockRequest request, long epoch, Deadline deadline, OwnTransaction transaction, SqlDialect dialect,
			PoolShare share) {
		super(request, epoch, deadline);
		this.transaction = transaction;
		this.dialect = dialect;
		this.share = share;
	}

	/**
	 * An answer says that the session has not ended, and so not the transaction either.
	 */
	@Override
	protected CompletionStage<Boolean> extend(Duration leaseTime) {
		return CompletableFuture.completedStage(isAlive(leaseTime));
	}

	private synchronized boolean isAlive(Duration leaseTime) {
		if (this.over) {
			return false;
		}
		try {
			this.transaction.execute(this.dialect.limitIdle(leaseTime));
			return true;
		}
		catch (SQLException ex) {
			logger.debug("The session that had lock {} shared has ended", LockException.quote(key()), ex);
			close();
			return false;
		}
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		return CompletableFuture.completedStage(close());
	}

	private synchronized boolean close() {
		if (this.over) {
			return false;
		}
		this.over = true;
		try {
			return this.transaction.end(this.dialect.unlimitIdle());
		}
		finally {
			this.share.giveBack();
		}
	}

}
