package io.github.holdfast.core;

import org.springframework.transaction.TransactionExecution;

/**
 * What is noted of the transactions under the locks of a call, on the thread that they
 * run on. The rest of a call is not changed by its transactions.
 */
public interface CommitNotes {

	/**
	 * Note that a transaction has begun under the locks.
	 * @param transaction the transaction
	 */
	void begun(TransactionExecution transaction);

	/**
	 * Whether a transaction is the one that the body consists of.
	 * @param transaction the transaction
	 * @return {@code false} also if that is not known
	 */
	boolean isBody(TransactionExecution transaction);

	/**
	 * Note that a transaction is about to commit after a check, so that a loss that is
	 * found later cannot have harmed it.
	 * @param transaction the transaction
	 */
	void guarded(TransactionExecution transaction);

	/**
	 * Note that a transaction has been committed and all of its callbacks have been
	 * called.
	 * @param transaction the transaction
	 * @param hadCallbacks whether its callbacks may have done more than it, in ways that
	 * no check sees
	 */
	void committed(TransactionExecution transaction, boolean hadCallbacks);

	/**
	 * Note that a commit under locks that can be kept has an unknown outcome, or that the
	 * outcome of one that was noted has become known. While one is unknown, the locks are
	 * neither renewed nor released but run out, or are released after their lease time.
	 * @param transaction the transaction
	 * @param unknown whether the outcome is unknown
	 */
	void outcomeUnknown(TransactionExecution transaction, boolean unknown);

	/**
	 * Note that the body's transaction is not all that the body does, so that later calls
	 * neither claim nor release by it.
	 */
	void bodyNotAlone();

	/**
	 * Note that a transaction is refused its commit, as another one under the same key
	 * came before an optimistic lock: the body has to run again.
	 */
	void conflict();

	/**
	 * Note that a transaction has replaced the version of an optimistic lock, or may
	 * have: the body must not run again, even if an earlier one was refused.
	 */
	void replaced();

}
