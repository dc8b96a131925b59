package io.github.holdfast.store;

import io.github.holdfast.LockLease;

/**
 * A lease that the transaction of its holder takes by its first statement, and that ends
 * with it. It is pending until then: nothing is held, but a local queue keeps the place.
 *
 * @since 0.3.0
 */
public interface TransactionLease extends LockLease {

	/**
	 * Sets what is run once, on any thread, when the next thread of this process is to
	 * ask for the lock: when this lease is not pending any more, if the store frees it
	 * before its transaction is durable, and otherwise when it has ended.
	 * @param action lets the next thread ask
	 */
	void whenNextMayAsk(Runnable action);

}
