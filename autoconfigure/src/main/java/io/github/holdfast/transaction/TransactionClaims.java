package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockCall.ClaimFailure;
import io.github.holdfast.core.LockGuard.NotTakenException;
import io.github.holdfast.core.LockGuard.Protection;
import io.github.holdfast.store.jdbc.TransactionLock;
import io.github.holdfast.store.jdbc.VersionLease;
import io.github.holdfast.transaction.GuardedManagers.GuardedManager;
import io.github.holdfast.transaction.OpenTransaction.Claim;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Lets the transactions of one manager claim the rows of the locks that they begin under,
 * and asks again before the COMMIT where a database may have freed a row.
 *
 * <p>
 * An exception when a transaction begins would leave its connection on the thread. So a
 * claim that failed marks the transaction as rollback-only, and the exception is thrown
 * before the body or after the rollback. No {@link TransactionException} may escape
 * before a commit: Spring would skip the rollback, and the clean-up of the connection
 * would commit.
 */
final class TransactionClaims implements TransactionExecutionListener {

	private final GuardedManager manager;

	TransactionClaims(GuardedManager manager) {
		this.manager = manager;
	}

	/**
	 * Another transaction on the same connection would commit what this one has claimed.
	 */
	@Override
	public void beforeBegin(TransactionExecution transaction) {
		if (LockCall.current() == null) {
			return;
		}
		if (!this.manager.isReady()) {
			throw new IllegalStateException("The transaction manager '" + this.manager.beanName()
					+ "' is used under a lock before the application has started");
		}
		if (this.manager.claims() != null && this.manager.dataSource() != null && transaction.isNewTransaction()
				&& TransactionSynchronizationManager.hasResource(this.manager.dataSource())) {
			throw new IllegalStateException("The transaction manager '" + this.manager.beanName()
					+ "' would begin a transaction on a connection that another transaction manager has bound to this "
					+ "thread, so that the inner COMMIT would release the lock. Use one transaction manager for both");
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		LockCall current = LockCall.current();
		if (beginFailure != null || current == null || !transaction.isNewTransaction()
				|| !(transaction instanceof TransactionStatus status)
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return;
		}
		OpenTransaction open = OpenTransaction.begin(this.manager, transaction);
		RowClaims rows = this.manager.claims();
		if (rows == null || transaction.isReadOnly()) {
			return;
		}
		try {
			claim(open, rows);
		}
		catch (Throwable ex) {
			status.setRollbackOnly();
			ClaimFailure failure = new ClaimFailure(
					(ex instanceof RuntimeException failed) ? failed : new IllegalStateException(ex));
			open.failed(failure);
			current.claimFailed(failure);
		}
	}

	private static void claim(OpenTransaction open, RowClaims rows) throws SQLException {
		for (LockCall call : open.calls()) {
			if (call.mode() != LockMode.EXCLUSIVE || call.protection() == Protection.LEASE) {
				continue;
			}
			List<Grant> pending = new ArrayList<>(1);
			for (Grant grant : call.grants()) {
				Claim outer = open.outerClaim(grant);
				if (outer != null) {
					open.outerClaims().add(outer);
				}
				else if (grant.lease() instanceof TransactionLock) {
					pending.add(grant);
				}
				else {
					claim(open, call, grant, rows);
				}
			}
			if (!pending.isEmpty()) {
				take(open, call, pending, rows);
			}
		}
	}

	/**
	 * TAKE: the transaction is the lock.
	 */
	private static void take(OpenTransaction open, LockCall call, List<Grant> grants, RowClaims rows)
			throws SQLException {
		for (Grant grant : grants) {
			boolean taken;
			boolean cancelled = true;
			call.beginWait(call.key(grant));
			try {
				taken = ((TransactionLock) grant.lease()).take(open.connection(), rows.rows(), open.remainingNanos());
			}
			catch (SQLException ex) {
				LockBackendException failed = failed(call, grant, "could not be acquired", ex);
				call.refused(failed);
				throw failed;
			}
			finally {
				cancelled = call.endWait();
			}
			if (!taken || cancelled) {
				grants.forEach((each) -> ((TransactionLock) each.lease()).rolledBack());
				open.claims().removeIf((claim) -> claim.call() == call);
				throw new NotTakenException(call, () -> {
				});
			}
			open.claims().add(new Claim(open, call, grant));
		}
		call.taken(rows.rows().dialect().freesRowsEarly());
	}

	/**
	 * RENEW, FENCE or CHECK: locks the row of a lease.
	 */
	private static void claim(OpenTransaction open, LockCall call, Grant grant, RowClaims rows) {
		Claim claim = new Claim(open, call, grant);
		boolean claimed = false;
		if (rows.areLeases()) {
			grant.beginClaim();
		}
		try {
			claim.sent();
			claimed = rows.claim(grant, open.connection());
		}
		catch (SQLException ex) {
			throw notClaimed(call, grant, rows, ex);
		}
		finally {
			if (claimed) {
				open.claims().add(claim);
			}
			else if (rows.areLeases()) {
				grant.endClaim();
			}
		}
		if (!claimed && !rows.areLeases() && call.protection() == Protection.CLAIMED && !grant.isInstalled()) {
			throw new NotTakenException(call, () -> {
				if (!rows.wasMissing(grant)) {
					throw superseded(call, grant);
				}
			});
		}
		if (!claimed) {
			throw superseded(call, grant);
		}
	}

	private static RuntimeException notClaimed(LockCall call, Grant grant, RowClaims rows, SQLException ex) {
		return rows.database().isTransient(ex) ? new CannotAcquireLockException("Lock "
				+ LockException.quote(call.key(grant)) + ": its row in holdfast_lock could not be locked, "
				+ "because of a deadlock or because another transaction has it. The transaction was rolled back; "
				+ "it is safe to try again", ex)
				: failed(call, grant, "could not be claimed by the transaction, which was rolled back", ex);
	}

	private static LockLostException superseded(LockCall call, Grant grant) {
		call.lossReported(grant);
		return new LockLostException(call.key(grant), "its row in holdfast_lock names a later holder, or was removed",
				null);
	}

	private static LockBackendException failed(LockCall call, Grant grant, String what, SQLException ex) {
		return new LockBackendException(call.key(grant), what + ": the database failed", ex);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		OpenTransaction open = OpenTransaction.of(transaction);
		if (open == null) {
			return;
		}
		RowClaims rows = this.manager.claims();
		try {
			if (rows == null) {
				checkClock(open.calls());
			}
			else if (!transaction.isReadOnly()) {
				check(open, rows);
			}
		}
		catch (TransactionException ex) {
			throw new IllegalStateException("The transaction was rolled back: " + ex.getMessage(), ex);
		}
		open.checked();
	}

	private static void checkClock(List<LockCall> calls) {
		for (LockCall call : calls) {
			for (Grant grant : call.grants()) {
				if (call.mode() != LockMode.OPTIMISTIC && !grant.isValid()) {
					call.lossReported(grant);
					throw new LockLostException(call.key(grant),
							"its lease has run out, or the store has given it to another holder", null);
				}
			}
		}
	}

	private static void check(OpenTransaction open, RowClaims rows) {
		for (Claim claim : open.claims()) {
			boolean asks = rows.rows().dialect().checksAtCommit();
			boolean renews = rows.areLeases() && claim.isLate() && rows.hasLateClock();
			if (asks && !(claim.grant().lease() instanceof TransactionLock) && renews) {
				asks = false;
			}
			if (asks && !ask(claim, () -> rows.check(claim.grant(), open.connection()))) {
				throw rolledBack(claim);
			}
			if (renews && !(claim.grant().lease() instanceof TransactionLock)) {
				claim.sent();
				if (!ask(claim, () -> rows.claim(claim.grant(), open.connection()))) {
					throw rolledBack(claim);
				}
			}
		}
		for (Claim outer : open.outerClaims()) {
			if (!ask(outer, () -> rows.check(outer.grant(), outer.transaction().connection()))) {
				throw rolledBack(outer);
			}
		}
		for (LockCall call : open.calls()) {
			switch (call.mode()) {
				case OPTIMISTIC -> advance(open, call, rows);
				case SHARED -> throw new IllegalStateException("Lock " + LockException.quote(call.keys().get(0)) + " ("
						+ call.name() + ") is shared, so only read-only transactions may commit under it. This one was "
						+ "rolled back. Declare it @Transactional(readOnly = true), or use mode EXCLUSIVE");
				case EXCLUSIVE -> {
				}
			}
		}
	}

	private static boolean ask(Claim claim, Question question) {
		try {
			return question.ask();
		}
		catch (SQLException ex) {
			throw new CannotAcquireLockException("Lock " + LockException.quote(claim.key())
					+ ": its row in holdfast_lock could not be checked before the commit. The transaction was rolled "
					+ "back; it is safe to try again", ex);
		}
	}

	/**
	 * Not lost, but freed early: the database has rolled back the transaction that had
	 * claimed the row.
	 */
	private static RuntimeException rolledBack(Claim claim) {
		return new CannotAcquireLockException("Lock " + LockException.quote(claim.key())
				+ ": the database has rolled back the transaction that had locked its row, for example after a deadlock. "
				+ "The transaction was rolled back; it is safe to try again");
	}

	private static void advance(OpenTransaction open, LockCall call, RowClaims rows) {
		for (Grant grant : call.grants()) {
			try {
				if (!((VersionLease) grant.lease()).advance(open.connection(), rows.rows())) {
					call.conflict();
					throw new LockLostException(call.key(grant),
							"it is optimistic, and another commit under this key came first", null);
				}
			}
			catch (SQLException ex) {
				if (rows.database().isTransient(ex)) {
					call.conflict();
				}
				throw failed(call, grant, "could not be compared before the commit", ex);
			}
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		OpenTransaction open = OpenTransaction.of(transaction);
		if (open != null) {
			open.over(commitFailure != null && isRefusal(commitFailure));
		}
	}

	/**
	 * Whether the database has answered that it did not commit.
	 */
	private static boolean isRefusal(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException ex && ex.getSQLState() != null) {
				return ex.getSQLState().startsWith("23")
						|| ex.getSQLState().startsWith("40") && !ex.getSQLState().equals("40003");
			}
		}
		return false;
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		OpenTransaction open = OpenTransaction.of(transaction);
		if (open == null) {
			return;
		}
		open.over(true);
		ClaimFailure failure = open.failure();
		if (failure != null && !failure.isReported()) {
			throw failure.report();
		}
	}

	/**
	 * A question to the database.
	 */
	@FunctionalInterface
	private interface Question {

		boolean ask() throws SQLException;

	}

}
