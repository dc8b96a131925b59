package io.github.holdfast;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;

/**
 * The transaction that a body consists of: the first one that begins under the lock. By
 * its name it is told apart from one that begins in the body, where the manager of the
 * body's own transaction is not guarded.
 */
final class BodyTransaction {

	private final @Nullable String name;

	private @Nullable TransactionExecution first;

	/**
	 * Create a transaction that is still to begin.
	 * @param name its name, or {@code null} if the body does not consist of one
	 */
	BodyTransaction(@Nullable String name) {
		this.name = name;
	}

	void begun(TransactionExecution transaction) {
		if (this.name != null && this.first == null) {
			this.first = transaction;
		}
	}

	boolean is(TransactionExecution transaction) {
		return transaction == this.first && transaction.getTransactionName().equals(this.name);
	}

}
