package io.github.holdfast;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that a body consists of: the only one of its name that begins under the
 * lock. Where there are more, as with overloaded methods, it is unknown which is the
 * last.
 */
final class BodyTransaction {

	private final @Nullable String name;

	private final CleanUps cleanUps;

	private @Nullable TransactionExecution only;

	private boolean begun;

	private boolean guarded;

	private boolean committed;

	private long commitTime;

	private BodyTransaction(@Nullable String name, CleanUps cleanUps) {
		this.name = name;
		this.cleanUps = cleanUps;
	}

	/**
	 * The transaction of a body that is about to be called.
	 */
	static BodyTransaction of(LockSettings settings, CleanUps cleanUps) {
		boolean joins = settings.propagation() != Propagation.REQUIRES_NEW
				&& TransactionSynchronizationManager.isActualTransactionActive();
		return new BodyTransaction(joins ? null : settings.transactionName(), cleanUps);
	}

	void begun(TransactionExecution transaction) {
		if (transaction.getTransactionName().equals(this.name)) {
			this.only = this.begun ? null : transaction;
			this.begun = true;
		}
	}

	/**
	 * Note that a transaction is about to commit after a check.
	 */
	void guarded(TransactionExecution transaction) {
		this.guarded |= transaction == this.only;
	}

	/**
	 * Whether all that the body has done was committed after a check.
	 */
	boolean isGuarded() {
		return this.guarded && this.committed;
	}

	/**
	 * Note the end of a transaction.
	 * @return whether it was this one, and what is left of the body takes long
	 */
	boolean committed(TransactionExecution transaction) {
		if (transaction != this.only) {
			return false;
		}
		this.committed = true;
		this.commitTime = System.nanoTime();
		return this.cleanUps.areLong();
	}

	/**
	 * Note that the body has returned.
	 */
	void over() {
		if (this.committed) {
			this.cleanUps.took(System.nanoTime() - this.commitTime);
		}
	}

}
