package io.github.holdfast.transaction;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;

/**
 * Decides on locked calls inside a running transaction. A lock that is taken there is
 * released before the transaction commits, and the transaction may have read its data
 * before the lock was taken.
 *
 * @since 0.1.0
 */
public final class ActiveTransactionListener implements LockListener {

	private final OnActiveTransaction policy;

	/**
	 * Create a listener.
	 * @param policy what to do
	 */
	public ActiveTransactionListener(OnActiveTransaction policy) {
		this.policy = policy;
	}

	@Override
	public void beforeAcquire(Attempt attempt) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| leavesTransaction(attempt.propagation())) {
			return;
		}
		RunningTransaction running = RunningTransaction.current();
		if (running != null && !running.isSql()) {
			return;
		}
		if (hasEnded(running)) {
			refuseToJoinEnded(attempt);
		}
		else if (attempt.mode() == LockRequest.Mode.OPTIMISTIC) {
			throw refused(attempt,
					"is optimistic and called inside a running transaction"
							+ transactionName(TransactionSynchronizationManager.getCurrentTransactionName())
							+ ", which it cannot run again when its commit is overtaken. "
							+ "Call the method without a transaction around it; or give it a transaction of its own "
							+ "with @Transactional(propagation = REQUIRES_NEW), which needs a second connection; "
							+ "or lock exclusively. In a test, remove @Transactional from the test");
		}
		else if (this.policy == OnActiveTransaction.REJECT) {
			throw refused(attempt, "is called inside a running transaction"
					+ transactionName(TransactionSynchronizationManager.getCurrentTransactionName())
					+ ", which would commit after the lock is released and may have read old data already. "
					+ "Call the locked method without a transaction around it; or give it a transaction of its own "
					+ "with @Transactional(propagation = REQUIRES_NEW), which needs a second connection; or set "
					+ "'holdfast.on-active-transaction' to 'release-after-completion' to keep the lock until the "
					+ "outer transaction has ended. In a test, remove @Transactional from the test, as it runs "
					+ "around the whole method");
		}
	}

	/**
	 * Joining a running transaction under the lock is what re-entrancy is for, but one
	 * that has ended would write past the guard.
	 */
	@Override
	public void beforeReentry(Attempt attempt) {
		if (TransactionSynchronizationManager.isActualTransactionActive() && !leavesTransaction(attempt.propagation())
				&& hasEnded(RunningTransaction.current())) {
			refuseToJoinEnded(attempt);
		}
	}

	private static void refuseToJoinEnded(Attempt attempt) {
		if (attempt.propagation() != null) {
			throw refused(attempt,
					"is called after the commit, where its transaction of propagation " + attempt.propagation()
							+ " would join the one that has ended and never be checked. "
							+ "Declare the method @Transactional(propagation = REQUIRES_NEW)");
		}
	}

	@Override
	public void acquired(HeldLock lock) {
		RunningTransaction running = RunningTransaction.current();
		if (this.policy == OnActiveTransaction.RELEASE_AFTER_COMPLETION && running != null && running.isSql()
				&& !running.hasEnded() && !leavesTransaction(lock.propagation())) {
			lock.releaseLater((release) -> releaseAfter(running, release));
		}
	}

	private static void releaseAfter(RunningTransaction running, Runnable release) {
		if (RunningTransaction.current() == running && !running.hasEnded()) {
			TransactionSynchronizationManager.registerSynchronization(new ReleaseAfterCompletion(release));
		}
		else {
			release.run();
		}
	}

	/**
	 * While {@code afterCompletion} callbacks run, Spring still calls the transaction
	 * active but has taken its synchronizations away.
	 */
	private static boolean hasEnded(@Nullable RunningTransaction running) {
		return (running != null) ? running.hasEnded() : !TransactionSynchronizationManager.isSynchronizationActive();
	}

	private static boolean leavesTransaction(@Nullable Propagation propagation) {
		return propagation == Propagation.REQUIRES_NEW || propagation == Propagation.NOT_SUPPORTED;
	}

	private static String transactionName(@Nullable String name) {
		return (name != null) ? " (" + name + ")" : "";
	}

	private static IllegalStateException refused(Attempt attempt, String reason) {
		return new IllegalStateException(
				"Lock " + LockException.quote(attempt.keys().get(0)) + " (" + attempt.name() + ") " + reason + ".");
	}

	/**
	 * Releases a lock when everything else that belongs to the transaction is over.
	 */
	private record ReleaseAfterCompletion(Runnable release) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void afterCompletion(int status) {
			this.release.run();
		}

	}

}
