package io.github.holdfast.transaction;

import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.sql.SqlStates;

/**
 * Checks the locks that a transaction belongs to just before it commits, as the last one
 * that Spring calls, and rolls it back if one is not held. Sees every transaction of its
 * manager, however it was begun. Checks what callbacks have written after the commit in
 * the same way, and tells the lock when a transaction has been committed.
 *
 * <p>
 * Never lets a {@link TransactionException} or a checked exception escape before a
 * commit: Spring would take the first for a failure of the commit itself and does not
 * expect the second. In both cases it would skip the rollback, and the connection's
 * clean-up would commit.
 *
 * @since 0.2.0
 */
final class CommitGuard implements GuardedManager.Guard {

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

	/**
	 * Hibernate calls the application between the check and the COMMIT. The end of
	 * another transaction on the same connection would be that of the checked one, which
	 * would go on without its locks.
	 */
	@Override
	public void beforeBegin(TransactionExecution transaction) {
		RunningTransaction checked = TransactionStack.checkedOn(this.manager);
		if (checked != null) {
			throw new IllegalStateException("A transaction of the manager '" + this.manager.beanName()
					+ "' cannot begin on the connection of '" + checked.name() + "', which is about to be committed: "
					+ "its locks are checked already. Call the method before the end of that transaction, or in its "
					+ "TransactionSynchronization.beforeCommit");
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure == null && transaction.isNewTransaction()
				&& TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionStack.begin(this.manager, transaction);
		}
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		RunningTransaction running = transaction.isNewTransaction() ? TransactionStack.of(transaction) : null;
		if (running == null) {
			return;
		}
		running.announced();
		if (running.resumeLeftBehind()) {
			throw new IllegalStateException(
					"The transaction was to be committed while it was suspended for the Scope of "
							+ "a lock that is still open, or was closed by another thread or in another transaction. It was "
							+ "rolled back. Close each Scope where it was acquired, in a try-with-resources statement");
		}
		if (running.isRolledBackByItsCommit()) {
			return;
		}
		refuseLateLock(running);
		List<HeldLock> locks = running.locks();
		if (locks.isEmpty()) {
			return;
		}
		try {
			check(running, transaction, locks);
		}
		catch (TransactionException ex) {
			throw failed(locks, ex);
		}
		catch (LockBackendException ex) {
			throw ex.withKey(callersKey(locks, ex.key()));
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw failed(locks, ex);
		}
	}

	private static void refuseLateLock(RunningTransaction running) {
		HeldLock late = running.lateLock();
		if (late != null && running.isSql()) {
			throw new IllegalStateException("Lock " + LockException.quote(late.keys().get(0)) + " (" + late.name()
					+ ") was taken while this transaction was suspended, which may have read old data before. It was "
					+ "rolled back. Take the lock where no transaction is around it, and keep it until the "
					+ "transaction has ended");
		}
	}

	private static String callersKey(List<HeldLock> locks, String storedKey) {
		for (HeldLock lock : locks) {
			for (int i = 0; i < lock.leases().size(); i++) {
				if (lock.leases().get(i).key().equals(storedKey)) {
					return lock.keys().get(i);
				}
			}
		}
		return storedKey;
	}

	private static LockBackendException failed(List<HeldLock> locks, Throwable cause) {
		return new LockBackendException(locks.get(locks.size() - 1).keys().get(0),
				"the check before the commit failed, so the transaction was rolled back", cause);
	}

	private void check(RunningTransaction running, TransactionExecution transaction, List<HeldLock> locks) {
		BoundResourcesRule.checkWaiting(locks.get(locks.size() - 1));
		if (transaction instanceof TransactionStatus status && !transaction.isReadOnly()
				&& this.manager.flushesAtCommit()) {
			status.flush();
		}
		if (running.isJoined() && this.manager.isFenced(locks)) {
			throw BoundResourcesRule.joined(locks.get(locks.size() - 1));
		}
		if (running.connection() != null) {
			running.connection().checkTimeout();
		}
		CommitRelease release = canRelease(running, transaction, locks)
				? CommitRelease.of(transaction, locks, this.manager) : null;
		CommitCheck check = new CommitCheck(this.manager, running, locks, release);
		List<ReplacedVersion> replaced = check.run();
		if (transaction.isRollbackOnly()) {
			throw new IllegalStateException("The transaction was marked rollback-only while its commit was prepared, "
					+ "which Spring would ignore; it was rolled back");
		}
		if (running.connection() != null) {
			running.connection().checked(this.manager.reportsRollbackOfItsSession());
		}
		running.checked(replaced, release);
		check.noteGuarded();
	}

	/**
	 * Not if anything may be done after the commit that no check would see.
	 */
	private boolean canRelease(RunningTransaction running, TransactionExecution transaction, List<HeldLock> locks) {
		return !transaction.isReadOnly() && this.manager.canRelease(locks) && !this.manager.hasOtherListeners()
				&& this.seesAll.getAsBoolean() && !running.hasCallbacksNow() && !BoundResourcesRule.isAnythingLeft();
	}

	@Override
	public void beforeRollback(TransactionExecution transaction) {
		RunningTransaction running = transaction.isNewTransaction() ? TransactionStack.of(transaction) : null;
		if (running != null) {
			running.announced();
			running.resumeLeftBehind();
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		RunningTransaction running = transaction.isNewTransaction() ? TransactionStack.of(transaction) : null;
		if (running == null) {
			return;
		}
		try {
			if (commitFailure != null && SqlStates.isRefusal(commitFailure)) {
				refused(running, commitFailure);
			}
			running.settle(commitFailure == null);
			if (commitFailure == null) {
				committed(running, transaction);
			}
		}
		finally {
			running.over();
		}
	}

	private static void committed(RunningTransaction running, TransactionExecution transaction) {
		HeldLock innermost = LockStack.current();
		if (innermost != null) {
			innermost.commits().committed(transaction, running.hadCallbacks());
		}
	}

	/**
	 * Callbacks have done without what a transaction has claimed.
	 */
	private static void rolledBack(RunningTransaction running) {
		HeldLock innermost = LockStack.current();
		if (innermost != null && running.hadCallbacks()) {
			innermost.commits().bodyNotAlone();
		}
	}

	private void refused(RunningTransaction running, Throwable commitFailure) {
		logger.debug("The database refused a commit under a lock", commitFailure);
		running.outcomeUnknown(false);
		if (SqlStates.isConflict(commitFailure)) {
			running.locks()
				.stream()
				.filter((lock) -> lock.mode() == LockRequest.Mode.OPTIMISTIC
						&& this.manager.locksOf(lock).guarding() == CommitGuardLevel.FENCE)
				.forEach((lock) -> lock.commits().conflict());
		}
	}

	/**
	 * The caller gets the exception that has caused the rollback, if there was one.
	 */
	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		RunningTransaction running = transaction.isNewTransaction() ? TransactionStack.of(transaction) : null;
		if (running == null) {
			return;
		}
		try {
			rolledBack(running);
			running.settle(rollbackFailure == null);
		}
		catch (RuntimeException ex) {
			logger.warn("What callbacks had written after the rollback of a transaction was rolled back, too", ex);
		}
		finally {
			running.over();
		}
	}

}
