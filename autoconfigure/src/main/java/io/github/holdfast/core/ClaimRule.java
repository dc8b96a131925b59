package io.github.holdfast.core;

/**
 * The rule by which the transaction that a body consists of claims its locks.
 */
public interface ClaimRule extends LockRule {

	/**
	 * Called right after that transaction has begun, before anything is done in it:
	 * writes the locks into their rows of the fence table. An exception rolls the
	 * transaction back.
	 * @param lock the lock
	 * @throws ClaimRefusedException if they have to be written before the transaction
	 */
	void claim(HeldLock lock);

}
