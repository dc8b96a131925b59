package io.github.holdfast.transaction;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockListener;

/**
 * Marks a running transaction on its thread: of which kind it is, and whether its commit
 * is over although Spring still calls it active. Suspended together with the transaction.
 */
final class RunningTransaction implements TransactionSynchronization {

	private final GuardedManager manager;

	private final TransactionExecution transaction;

	private boolean committing;

	private List<ReplacedVersion> versions = List.of();

	private boolean doomed;

	private boolean ended;

	RunningTransaction(GuardedManager manager, TransactionExecution transaction) {
		this.manager = manager;
		this.transaction = transaction;
	}

	static @Nullable RunningTransaction current() {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			for (TransactionSynchronization synchronization : TransactionSynchronizationManager.getSynchronizations()) {
				if (synchronization instanceof RunningTransaction running) {
					return running;
				}
			}
		}
		return null;
	}

	boolean isSql() {
		return this.manager.isSql();
	}

	boolean hasEnded() {
		return this.ended;
	}

	/**
	 * Whether the commit that Spring is about to ask for will roll back, and the manager
	 * say so: that of JPA and JTA is asked for although the transaction is marked
	 * rollback-only.
	 */
	boolean isRolledBackByItsCommit() {
		return this.doomed && !this.manager.reportsRollbackOfItsConnection();
	}

	/**
	 * First of all, so that the other callbacks see that the transaction has ended.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	/**
	 * Note that all locks allow the commit.
	 * @param versions those that it replaces
	 */
	void committing(List<ReplacedVersion> versions) {
		this.committing = true;
		this.versions = versions;
	}

	/**
	 * Called before all other callbacks, of which one might mark the transaction too late
	 * for Spring.
	 */
	@Override
	public void beforeCommit(boolean readOnly) {
		this.doomed = this.transaction instanceof DefaultTransactionStatus status && status.isGlobalRollbackOnly();
	}

	@Override
	public void afterCommit() {
		this.ended = true;
	}

	/**
	 * A commit whose answer is missing may still take place on the server. One that was
	 * not even checked, as an exception of another callback came first, would be made up
	 * for by the connection's clean-up.
	 */
	@Override
	public void afterCompletion(int status) {
		this.ended = true;
		boolean rolledBack = !this.committing
				|| (status == STATUS_ROLLED_BACK && this.manager.reportsRollbackOfItsConnection());
		if (!rolledBack) {
			this.versions.forEach(ReplacedVersion::committed);
		}
		LockListener.HeldLock innermost = LockListener.HeldLock.current();
		if (innermost == null || status == STATUS_COMMITTED) {
			return;
		}
		if (!this.committing) {
			this.manager.rollBackBoundConnection();
		}
		else if (!rolledBack) {
			for (LockListener.HeldLock lock = innermost; lock != null; lock = lock.outer()) {
				lock.outcomeUnknown(this.transaction, true);
			}
		}
	}

}
