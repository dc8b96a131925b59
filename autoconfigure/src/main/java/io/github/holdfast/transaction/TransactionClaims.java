package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.util.List;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockCall.Result;
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
 * Lets the transactions of one manager claim the rows of their locks. Checks the rows
 * again before the COMMIT if the database may have freed one.
 *
 * <p>
 * An exception when a transaction begins would leave its connection on the thread. So a
 * claim that failed marks the transaction as rollback-only, and the exception is thrown
 * before the body or after the rollback. No {@link TransactionException} may escape
 * before a commit: Spring would skip the rollback, and the cleanup of the connection
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
					+ "' is used under a lock before the application has started: use an ApplicationRunner");
		}
		if (this.manager.claims() != null && this.manager.dataSource() != null && transaction.isNewTransaction()
				&& TransactionSynchronizationManager.hasResource(this.manager.dataSource())) {
			throw new IllegalStateException("The transaction manager '" + this.manager.beanName()
					+ "' would begin a transaction on the connection of another transaction manager, and its COMMIT "
					+ "would release the lock. Use one transaction manager for both");
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure != null || LockCall.current() == null || !transaction.isNewTransaction()
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
			for (LockCall call : open.calls()) {
				if (call.mode() == LockMode.EXCLUSIVE && call.protection() != Protection.LEASE) {
					claim(open, call, rows);
				}
			}
		}
		catch (Throwable ex) {
			status.setRollbackOnly();
			open.failed((ex instanceof RuntimeException failure) ? failure : new IllegalStateException(ex));
		}
	}

	private static void claim(OpenTransaction open, LockCall call, RowClaims rows) {
		if (call.has(Result.UNKNOWN)) {
			throw new IllegalStateException("Lock " + LockException.quote(call.keys().get(0))
					+ ": the COMMIT of an earlier transaction under it got no answer, and may still take effect. Let its "
					+ "exception leave the method");
		}
		boolean taken = false;
		for (Grant grant : call.grants()) {
			Claim outer = open.outerClaim(grant);
			if (outer != null) {
				open.outerClaims().add(outer);
			}
			else if (grant.lease() instanceof TransactionLock lock) {
				take(open, call, grant, lock, rows);
				taken = true;
			}
			else {
				claim(open, call, grant, rows);
			}
		}
		if (taken) {
			call.taken(rows.rows().dialect().freesRowsEarly());
		}
	}

	/**
	 * TAKE: the transaction is the lock.
	 */
	private static void take(OpenTransaction open, LockCall call, Grant grant, TransactionLock lock, RowClaims rows) {
		boolean taken;
		boolean cancelled;
		call.beginWait(call.key(grant));
		try {
			taken = lock.take(open.connection(), rows.rows(), open.remainingNanos());
		}
		catch (SQLException ex) {
			RuntimeException failure = failed(call, grant, rows, ex);
			call.refused(failure);
			throw failure;
		}
		finally {
			cancelled = call.endWait();
		}
		if (!taken || cancelled) {
			open.claims().forEach((claim) -> claim.notTaken(call));
			open.claims().removeIf((claim) -> claim.call() == call);
			throw new NotTakenException(call, () -> {
			});
		}
		open.claims().add(new Claim(open, call, grant));
	}

	/**
	 * RENEW, FENCE or CHECK: locks the row of a lease.
	 */
	private static void claim(OpenTransaction open, LockCall call, Grant grant, RowClaims rows) {
		Claim claim = new Claim(open, call, grant);
		boolean claimed = false;
		claim.begin(rows);
		try {
			claimed = rows.claim(grant, open);
		}
		catch (SQLException ex) {
			throw failed(call, grant, rows, ex);
		}
		finally {
			if (claimed) {
				open.claims().add(claim);
			}
			else {
				grant.endClaim();
			}
		}
		if (!claimed && !rows.areLeases() && call.protection() == Protection.CLAIMED && !grant.isInstalled()) {
			throw new NotTakenException(call, () -> {
				if (!rows.wasMissing(grant, call.key(grant))) {
					throw superseded(call, grant);
				}
			});
		}
		if (!claimed) {
			throw superseded(call, grant);
		}
	}

	private static LockLostException superseded(LockCall call, Grant grant) {
		call.lossReported(grant);
		return new LockLostException(call.key(grant), "its row in holdfast_lock names a later holder, or was removed",
				null);
	}

	private static RuntimeException failed(LockCall call, Grant grant, RowClaims rows, SQLException ex) {
		return rows.database().isTransient(ex)
				? new CannotAcquireLockException("Lock " + LockException.quote(call.key(grant))
						+ ": a deadlock, an interrupt, or too long a wait. It is safe to try again", ex)
				: new LockBackendException(call.key(grant),
						"its row could not be locked, so the transaction was rolled back", ex);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		OpenTransaction open = OpenTransaction.of(transaction);
		if (open == null) {
			return;
		}
		RowClaims rows = this.manager.claims();
		// A holder who is interrupted commits; an interrupt would cancel the question
		boolean interrupted = Thread.interrupted();
		try {
			if (rows == null) {
				checkClock(open.calls());
			}
			else if (!transaction.isReadOnly()) {
				check(open, rows);
			}
			open.checked();
		}
		catch (TransactionException | SQLException ex) {
			throw new IllegalStateException("The transaction was rolled back: " + ex.getMessage(), ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
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
		boolean asks = rows.rows().dialect().checksAtCommit();
		for (Claim claim : open.claims()) {
			boolean late = claim.isLate(rows);
			if (late) {
				claim.begin(rows);
			}
			if (late || asks) {
				ask(claim, rows, late);
			}
		}
		open.outerClaims().forEach((outer) -> ask(outer, rows, false));
		for (LockCall call : open.calls()) {
			if (call.mode() == LockMode.SHARED) {
				throw new IllegalStateException("Lock " + LockException.quote(call.keys().get(0)) + " (" + call.name()
						+ ") is shared, so only read-only transactions may commit under it. This one was rolled back. "
						+ "Declare it @Transactional(readOnly = true), or use mode EXCLUSIVE");
			}
			if (call.mode() == LockMode.OPTIMISTIC) {
				call.grants().forEach((version) -> advance(open, call, version, rows));
			}
		}
	}

	/**
	 * A row that is free again was not lost: the database has rolled back the transaction
	 * that had locked it.
	 */
	private static void ask(Claim claim, RowClaims rows, boolean late) {
		boolean locked;
		try {
			locked = late ? rows.claim(claim.grant(), claim.transaction())
					: rows.check(claim.grant(), claim.transaction());
		}
		catch (SQLException ex) {
			throw failed(claim.call(), claim.grant(), rows, ex);
		}
		if (!locked) {
			throw new CannotAcquireLockException("Lock " + LockException.quote(claim.call().key(claim.grant()))
					+ ": the database has rolled back the work of its transaction, for example after a deadlock. It is "
					+ "safe to try again");
		}
	}

	private static void advance(OpenTransaction open, LockCall call, Grant version, RowClaims rows) {
		try {
			if (!((VersionLease) version.lease()).advance(open.connection(), rows.rows())) {
				call.note(Result.CONFLICT);
				throw new LockLostException(call.key(version),
						"it is optimistic, and another commit under this key came first", null);
			}
		}
		catch (SQLException ex) {
			throw failed(call, version, rows, ex);
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
	 * Whether the database has answered that it did not commit, or JPA has rolled back
	 * without asking it, because entities are invalid.
	 */
	private static boolean isRefusal(Throwable failure) {
		boolean rolledBack = false;
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException ex) {
				return String.valueOf(ex.getSQLState()).matches("23.*|40(?!003).*|25P02|P0001");
			}
			rolledBack |= cause.getClass().getName().equals("jakarta.persistence.RollbackException");
		}
		return rolledBack;
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		OpenTransaction open = OpenTransaction.of(transaction);
		if (open == null) {
			return;
		}
		RuntimeException failure = open.takeFailure();
		open.over(false);
		if (failure != null) {
			throw failure;
		}
	}

}
