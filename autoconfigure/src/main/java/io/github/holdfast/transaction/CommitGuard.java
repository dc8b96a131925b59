package io.github.holdfast.transaction;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;

/**
 * Checks the locks of the current call chain just before a transaction commits, as the
 * last one that Spring calls, and rolls the transaction back if one is lost. Sees every
 * transaction of its manager that commits under a lock, however it was begun. Tells the
 * lock when one has been committed.
 *
 * <p>
 * Never lets a {@link TransactionException} or a checked exception escape: Spring would
 * take the first for a failure of the commit itself and does not expect the second. In
 * both cases it would skip the rollback, and the connection's clean-up would commit.
 *
 * @since 0.1.0
 */
final class CommitGuard implements TransactionExecutionListener {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuard.class);

	private final GuardedManager manager;

	private final BooleanSupplier seesAll;

	/**
	 * Create a guard.
	 * @param manager the manager
	 * @param seesAll whether all managers are guarded, so that no transaction goes unseen
	 */
	CommitGuard(GuardedManager manager, BooleanSupplier seesAll) {
		this.manager = manager;
		this.seesAll = seesAll;
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure == null && transaction.isNewTransaction()
				&& TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager
				.registerSynchronization(new RunningTransaction(this.manager, transaction));
			LockListener.HeldLock innermost = LockListener.HeldLock.current();
			if (innermost != null) {
				innermost.begun(transaction);
			}
		}
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		LockListener.HeldLock innermost = LockListener.HeldLock.current();
		if (innermost == null || !transaction.isNewTransaction()) {
			return;
		}
		try {
			check(transaction, innermost);
		}
		catch (TransactionException ex) {
			throw failed(innermost, ex);
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw failed(innermost, ex);
		}
	}

	private static LockBackendException failed(LockListener.HeldLock lock, Throwable cause) {
		return new LockBackendException(lock.keys().get(0),
				"the check before the commit failed, so the transaction was rolled back", cause);
	}

	private void check(TransactionExecution transaction, LockListener.HeldLock innermost) {
		RunningTransaction running = RunningTransaction.current();
		if (running != null && running.isRolledBackByItsCommit()) {
			return;
		}
		if (transaction instanceof TransactionStatus status && !transaction.isReadOnly()) {
			status.flush();
		}
		this.manager.checkTimeout();
		CommitCheck check = new CommitCheck(this.manager, transaction, innermost);
		check.run();
		if (transaction.isRollbackOnly()) {
			throw new IllegalStateException("The transaction was marked rollback-only while its commit was prepared, "
					+ "which Spring would ignore; it was rolled back");
		}
		check.committing(running);
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		if (commitFailure == null) {
			committed(transaction);
		}
		else if (CommitRefusal.isRefusal(commitFailure)) {
			refused(transaction, commitFailure);
		}
	}

	private void committed(TransactionExecution transaction) {
		LockListener.HeldLock innermost = LockListener.HeldLock.current();
		if (innermost != null && this.seesAll.getAsBoolean()) {
			innermost.committed(transaction);
		}
	}

	private void refused(TransactionExecution transaction, Throwable commitFailure) {
		logger.debug("The database refused a commit under a lock", commitFailure);
		for (LockListener.HeldLock lock = LockListener.HeldLock.current(); lock != null; lock = lock.outer()) {
			lock.outcomeUnknown(transaction, false);
		}
		overtaken(commitFailure);
	}

	private void overtaken(Throwable commitFailure) {
		if (this.manager.guarding() != CommitGuardLevel.FENCE || !CommitRefusal.isConflict(commitFailure)) {
			return;
		}
		for (LockListener.HeldLock lock = LockListener.HeldLock.current(); lock != null; lock = lock.outer()) {
			if (lock.mode() == LockRequest.Mode.OPTIMISTIC) {
				lock.overtaken();
			}
		}
	}

}
