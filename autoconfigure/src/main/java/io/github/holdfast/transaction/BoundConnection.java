package io.github.holdfast.transaction;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHandle;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.sql.OpenTransaction;
import io.github.holdfast.sql.TransactionConnection;

/**
 * A physical connection that Spring has bound to this thread, and what is known of the
 * database transaction that is open on it. Transactions of Spring are its users: mostly
 * there is one, but managers that share a {@code DataSource} let an inner one work on the
 * connection of an outer one. <b>Each COMMIT and ROLLBACK of a user is one of all of
 * them</b>: it ends what each has done so far, and a claim whoever has made it.
 *
 * <p>
 * What is on a connection of the application is committed by Spring, after a check, or
 * rolled back. Only the clean-up of one that Spring has nothing else to do with is
 * brought forward.
 */
final class BoundConnection {

	private static final Logger logger = LoggerFactory.getLogger(BoundConnection.class);

	private final DataSource dataSource;

	private final @Nullable Object holder;

	/** Outer ones first. */
	private final List<User> users = new ArrayList<>(1);

	/** What is written but not committed. */
	private @Nullable Claim claim;

	/** What was rolled back, although the first user had not ended. */
	private @Nullable Claim lostClaim;

	/** Where the COMMIT that comes next is carried out. */
	private @Nullable Object session;

	private BoundConnection(DataSource dataSource, @Nullable Object holder) {
		this.dataSource = dataSource;
		this.holder = holder;
	}

	/**
	 * The connection that is bound for a DataSource.
	 * @param dataSource that of the manager of its first user
	 */
	static BoundConnection of(DataSource dataSource) {
		return new BoundConnection(dataSource, TransactionSynchronizationManager.getResource(dataSource));
	}

	/**
	 * Whether it is what a manager has found bound to the thread, for its own
	 * {@code DataSource} or for one behind it.
	 * @param other what has been bound when a transaction of that manager has begun
	 */
	boolean isSame(BoundConnection other) {
		return this.holder != null
				&& (this.holder == other.holder || TransactionConnection.isJoining(other.dataSource, this.holder));
	}

	/**
	 * The transactions that work on it and are not over, outer ones first.
	 */
	List<User> users() {
		return this.users;
	}

	/**
	 * Whether a transaction has begun on the connection of another one, which goes on
	 * with it afterwards.
	 */
	boolean isBorrowedBy(User user) {
		return this.users.get(0) != user && this.users.contains(user);
	}

	void enter(User user) {
		this.users.add(user);
	}

	void leave(User user) {
		this.users.remove(user);
	}

	/**
	 * Whether nothing that has been done here so far may change data.
	 */
	boolean isReadOnly() {
		return this.users.stream().allMatch(User::isReadOnly);
	}

	void claimed(Claim claim) {
		this.claim = claim;
	}

	/**
	 * What was claimed and is not committed yet.
	 * @return the claim of a lease, or {@code null} if there is none
	 */
	@Nullable Claim claimOf(LockLease lease) {
		Claim claim = this.claim;
		return (claim != null && claim.covers(lease)) ? claim : null;
	}

	boolean hasClaimed(Claim claim) {
		return this.claim == claim;
	}

	boolean hasLostClaimOf(LockLease lease) {
		return this.lostClaim != null && this.lostClaim.covers(lease);
	}

	/**
	 * Let the COMMIT that comes next leave what is claimed to callbacks.
	 */
	void keepClaim() {
		if (this.claim != null) {
			this.claim.keep();
		}
	}

	/**
	 * Note where the COMMIT that comes next is carried out.
	 * @param tells whether its manager can tell of a rollback there; another one may have
	 * committed before
	 */
	void checked(boolean tells) {
		this.session = tells ? session() : null;
	}

	/**
	 * Whether what was rolled back after a failed COMMIT is what was to be committed. A
	 * driver with failover goes on in another session, and a
	 * {@code LazyConnectionDataSourceProxy} ignores the rollback of a connection that the
	 * pool has closed.
	 */
	boolean isInItsSession() {
		return this.session != null && this.session == session();
	}

	private @Nullable Object session() {
		ConnectionHolder bound = bound();
		return (bound != null) ? OpenTransaction.session(connection(bound)) : null;
	}

	/**
	 * Note a COMMIT.
	 */
	void committed() {
		if (this.claim != null) {
			this.claim.committed();
		}
		this.claim = null;
	}

	/**
	 * Note a ROLLBACK, or a COMMIT of unknown outcome: later ones have to find their
	 * locks in the rows.
	 * @param goesOn whether callbacks may go on with the connection, which need a claim
	 * for what they do
	 */
	void rolledBack(boolean goesOn) {
		Claim claim = this.claim;
		this.claim = null;
		if (claim != null && this.users.size() > 1) {
			claim.notAlone();
			claim.rolledBack();
			this.lostClaim = claim;
		}
		else if (claim != null && !(goesOn && isClaimedAgain(claim))) {
			claim.rolledBack();
		}
	}

	private boolean isClaimedAgain(Claim claim) {
		Connection connection = untouched();
		try {
			if (connection != null && claim.isMadeAgain(connection)) {
				this.claim = claim;
				return true;
			}
		}
		catch (LockBackendException ex) {
			logger.debug("What callbacks write after a rollback will be rolled back, too", ex);
		}
		rollBack();
		return false;
	}

	/**
	 * The connection.
	 * @return {@code null} if something may have been done in its transaction
	 */
	@Nullable Connection untouched() {
		ConnectionHolder bound = bound();
		if (bound == null) {
			return null;
		}
		try {
			Connection connection = connection(bound);
			return (connection.getAutoCommit() || OpenTransaction.mayHaveReads(connection)) ? null : connection;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * Whether the transaction has a time-out.
	 */
	boolean hasTimeout() {
		return TransactionSynchronizationManager.getResource(this.dataSource) instanceof ResourceHolderSupport holder
				&& holder.hasTimeout();
	}

	/**
	 * Fail if the transaction has taken longer than its time-out, which is otherwise
	 * looked at only when a statement is made.
	 */
	void checkTimeout() {
		if (TransactionSynchronizationManager.getResource(this.dataSource) instanceof ResourceHolderSupport holder
				&& holder.hasTimeout()) {
			holder.getTimeToLiveInMillis();
		}
	}

	/**
	 * Roll back what was done so far.
	 */
	void rollBack() {
		if (TransactionSynchronizationManager.hasResource(this.dataSource)) {
			TransactionConnection.rollBack(this.dataSource);
		}
	}

	/**
	 * Let the clean-up of a transaction commit nothing that is not settled.
	 * @param whenUnsettled called if it is not
	 * @return what its manager has from now on, or {@code null} if that is another
	 * connection
	 */
	@Nullable CleanedUpConnection guardCleanUp(TransactionExecution transaction, Runnable whenUnsettled) {
		ConnectionHolder bound = bound();
		ConnectionHandle handle = (bound != null) ? bound.getConnectionHandle() : null;
		if (handle != null && transaction instanceof DefaultTransactionStatus status && status.hasTransaction()
				&& status.getTransaction() instanceof JdbcTransactionObjectSupport object
				&& object.hasConnectionHolder() && object.getConnectionHolder() == bound) {
			CleanedUpConnection guarded = new CleanedUpConnection(this.dataSource, bound, handle, status,
					whenUnsettled);
			object.setConnectionHolder(guarded);
			return guarded;
		}
		return null;
	}

	/**
	 * Do what the clean-up of a transaction that has ended would do next: switch
	 * auto-commit on again, which commits what is left.
	 * @param key the key of a lock that was checked for it
	 */
	void cleanUp(String key) {
		ConnectionHolder bound = bound();
		try {
			if (bound != null) {
				connection(bound).setAutoCommit(true);
			}
		}
		catch (SQLException ex) {
			throw new LockBackendException(key, "the connection of the transaction could not be cleaned up", ex);
		}
	}

	/**
	 * Whether something may have been done here since the last COMMIT or ROLLBACK. A JPA
	 * provider that has given the connection back may have none, or not get another one.
	 */
	boolean mayHavePendingWork() {
		ConnectionHolder bound = bound();
		if (bound == null) {
			return false;
		}
		try {
			Connection connection = connection(bound);
			return connection != null && !connection.getAutoCommit() && OpenTransaction.mayHaveChanges(connection);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A broken connection has nothing left to commit", ex);
			return false;
		}
	}

	/**
	 * Whether the database has given up what is pending here, as a statement has failed.
	 */
	boolean isAborted() {
		ConnectionHolder bound = bound();
		return bound != null && OpenTransaction.isAborted(connection(bound));
	}

	/**
	 * The connection, not kept for later: Hibernate may give it back with its commit, and
	 * take another one.
	 */
	static Connection connection(ConnectionHolder bound) {
		bound.requested();
		try {
			return bound.getConnection();
		}
		finally {
			bound.released();
		}
	}

	private @Nullable ConnectionHolder bound() {
		return (TransactionSynchronizationManager.getResource(this.dataSource) instanceof ConnectionHolder bound
				&& bound.getConnectionHandle() != null) ? bound : null;
	}

	/**
	 * Whether the clean-up of a transaction's connection commits what is pending there,
	 * by switching auto-commit on again, as it was before the transaction. A pool without
	 * auto-commit rolls it back.
	 */
	static boolean isCleanedUpByCommit(TransactionExecution transaction) {
		if (!(transaction instanceof DefaultTransactionStatus status) || !status.hasTransaction()) {
			return false;
		}
		Object object = status.getTransaction();
		Method method = ReflectionUtils.findMethod(object.getClass(), "isMustRestoreAutoCommit");
		if (method == null) {
			return false;
		}
		ReflectionUtils.makeAccessible(method);
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(method, object));
	}

	/**
	 * A transaction of Spring.
	 */
	interface User {

		/**
		 * The locks that it belongs to.
		 */
		Set<HeldLock> ownLocks();

		boolean isReadOnly();

	}

}
