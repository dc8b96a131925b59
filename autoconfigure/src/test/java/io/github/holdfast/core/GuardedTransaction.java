package io.github.holdfast.core;

import org.springframework.transaction.TransactionExecution;

import io.github.holdfast.LockTemplate;

/**
 * Plays the transaction that a body consists of.
 */
public final class GuardedTransaction implements TransactionExecution {

	private static final String NAME = "body";

	private GuardedTransaction() {
	}

	/**
	 * Returns a template whose bodies consist of such a transaction.
	 * @param locks a template
	 * @return a copy
	 */
	public static LockTemplate bodies(LockTemplate locks) {
		return TemplateAccess.withTransaction(locks, BodyTransaction.of(NAME));
	}

	/**
	 * Commits the transaction of the current body, after a check of its locks.
	 */
	public static void commit() {
		HeldLock lock = LockStack.current();
		if (lock == null) {
			throw new IllegalStateException("No lock");
		}
		GuardedTransaction transaction = new GuardedTransaction();
		lock.commits().begun(transaction);
		lock.commits().guarded(transaction);
		lock.commits().committed(transaction, false);
	}

	@Override
	public String getTransactionName() {
		return NAME;
	}

}
