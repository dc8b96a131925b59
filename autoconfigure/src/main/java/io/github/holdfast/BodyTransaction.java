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

	private @Nullable TransactionExecution only;

	private boolean begun;

	private BodyTransaction(@Nullable String name) {
		this.name = name;
	}

	/**
	 * The transaction of a body that is about to be called.
	 */
	static BodyTransaction of(LockSettings settings) {
		boolean joins = settings.propagation() != Propagation.REQUIRES_NEW
				&& TransactionSynchronizationManager.isActualTransactionActive();
		return new BodyTransaction(joins ? null : settings.transactionName());
	}

	void begun(TransactionExecution transaction) {
		if (transaction.getTransactionName().equals(this.name)) {
			this.only = this.begun ? null : transaction;
			this.begun = true;
		}
	}

	boolean is(TransactionExecution transaction) {
		return transaction == this.only;
	}

}
