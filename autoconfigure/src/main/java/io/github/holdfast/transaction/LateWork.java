package io.github.holdfast.transaction;

import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.HeldLock;

/**
 * What callbacks do on the connection of a transaction after its end. The clean-up of the
 * connection commits it, where auto-commit is switched on again, so it is checked like
 * the transaction itself, or rolled back.
 */
final class LateWork {

	private static final List<String> HARMLESS = List.of("org.springframework.jdbc.", "org.springframework.orm.",
			"org.mybatis.spring.");

	/**
	 * Of a class of callbacks, whether it may work in the database. Those by which Spring
	 * and MyBatis clean up do not.
	 */
	private static final ClassValue<Boolean> WORKING = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return HARMLESS.stream().noneMatch(type.getName()::startsWith);
		}

	};

	private final GuardedManager manager;

	private final RunningTransaction transaction;

	private boolean callbacksOfOthers;

	private @Nullable LastCallback lastCallback;

	private @Nullable CleanedUpConnection cleanedUp;

	LateWork(GuardedManager manager, RunningTransaction transaction) {
		this.manager = manager;
		this.transaction = transaction;
	}

	/**
	 * More callbacks may have been registered since the last look, by another one or by
	 * the flush of a session. Not all are called if one of them fails.
	 */
	void lookAtCallbacks() {
		List<TransactionSynchronization> callbacks = TransactionSynchronizationManager.getSynchronizations();
		this.callbacksOfOthers = mayWork(callbacks) || this.manager.mayWorkAfterTheEnd();
		boolean needed = this.callbacksOfOthers || this.transaction.isAwaited();
		if (needed && callbacks.get(callbacks.size() - 1) != this.lastCallback) {
			this.lastCallback = new LastCallback();
			TransactionSynchronizationManager.registerSynchronization(this.lastCallback);
		}
		if (this.cleanedUp == null && (this.callbacksOfOthers || this.manager.hasOtherListeners())) {
			this.cleanedUp = this.transaction.guardCleanUp();
		}
	}

	/**
	 * Ours do not.
	 */
	private static boolean mayWork(List<TransactionSynchronization> callbacks) {
		for (TransactionSynchronization callback : callbacks) {
			boolean own = callback instanceof RunningTransaction || callback instanceof LastCallback;
			if (!own && WORKING.get(callback.getClass())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether callbacks may do more than the transaction, as far as they are known.
	 */
	boolean hasCallbacks() {
		return this.callbacksOfOthers;
	}

	/**
	 * Whether something may be left that the clean-up of the connection commits.
	 */
	private boolean mayBeLeft() {
		BoundConnection connection = this.transaction.connection();
		return connection != null && (this.callbacksOfOthers || this.manager.hasOtherListeners())
				&& connection.mayHavePendingWork();
	}

	/**
	 * Leave to the clean-up of the connection what it may commit, as all locks of the
	 * transaction are still held, and roll back everything else. An optimistic lock is
	 * over with its commit and says nothing about it. Locks that end with the transaction
	 * do so before the clean-up, which is brought forward then. What an inner transaction
	 * leaves on the connection of an outer one belongs to that one from now on.
	 * @param known whether the transaction has ended as it should
	 * @throws LockOverlapException if it was rolled back as a lock is not held, or as
	 * that could not be found out: never as a failure that tells of a transaction which
	 * was rolled back
	 */
	void settle(boolean known) {
		checkOrRollBack(known);
		if (known && this.cleanedUp != null) {
			this.cleanedUp.settled();
		}
	}

	private void checkOrRollBack(boolean known) {
		Set<HeldLock> all = this.transaction.ownLocks();
		if (all.isEmpty() || this.transaction.isBorrowing() || !mayBeLeft()) {
			return;
		}
		List<HeldLock> locks = all.stream().filter((lock) -> lock.mode() != LockRequest.Mode.OPTIMISTIC).toList();
		if (locks.isEmpty()) {
			return;
		}
		BoundConnection connection = this.transaction.connection();
		if (!known || !this.transaction.isCleanedUpByCommit() || (connection != null && connection.isAborted())) {
			rollBack();
			return;
		}
		if (this.transaction.isClaimRefused()
				&& locks.stream().flatMap((lock) -> lock.leases().stream()).allMatch(LockLease::isValid)) {
			// The locks of a body that has not begun need no row
			return;
		}
		try {
			new CommitCheck(this.manager, this.transaction, locks, null).run();
			if (connection != null && this.transaction.isAwaited()) {
				connection.cleanUp(locks.get(0).keys().get(0));
			}
		}
		catch (LockLostException ex) {
			rollBack();
			throw new LockOverlapException(ex.key(), "after the commit: what was written after it, in callbacks of the "
					+ "transaction, has been rolled back", ex);
		}
		catch (RuntimeException ex) {
			rollBack();
			throw new LockOverlapException(locks.get(0).keys().get(0),
					"or not found after the commit: what was written after it, in callbacks of the transaction, "
							+ "could not be checked and committed",
					ex);
		}
		catch (Error ex) {
			rollBack();
			throw ex;
		}
	}

	private void rollBack() {
		BoundConnection connection = this.transaction.connection();
		if (connection != null) {
			connection.rollBack();
		}
	}

	/**
	 * The end of a transaction whose listeners are not told: of one that fails before
	 * they were told of the attempt, or of which another one fails.
	 */
	private final class LastCallback implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void afterCompletion(int status) {
			LateWork work = LateWork.this;
			if (work.lastCallback != this) {
				return;
			}
			if (status == STATUS_UNKNOWN && !work.transaction.isAnnounced()) {
				work.transaction.over();
			}
			else {
				work.transaction.resumeLeftBehind();
			}
		}

	}

}
