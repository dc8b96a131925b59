package io.github.holdfast.core;

import io.github.holdfast.LockBackend;

/**
 * The rule by which the transaction that a body consists of claims its locks.
 */
public interface ClaimRule extends LockRule {

	/**
	 * Whether the locks of a backend have rows that a transaction can claim. Default:
	 * yes.
	 * @param backend the backend
	 * @return {@code false} if they are written when they are granted, or have none
	 */
	default boolean isFor(LockBackend backend) {
		return true;
	}

	/**
	 * Called right after that transaction has begun, before anything is done in it:
	 * writes the locks into their rows of the fence table. An exception rolls the
	 * transaction back.
	 * @param lock the lock
	 * @throws ClaimRefusedException if they have to be written before the transaction
	 */
	void claim(HeldLock lock);

}
