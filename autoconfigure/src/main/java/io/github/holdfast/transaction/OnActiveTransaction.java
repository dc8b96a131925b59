package io.github.holdfast.transaction;

/**
 * What to do with a locked call inside a running transaction, which would still be open
 * when the lock is released.
 *
 * @since 0.2.0
 */
public enum OnActiveTransaction {

	/** Refuse the call before anything is acquired. */
	REJECT,

	/**
	 * Take the lock and keep it until the running transaction has ended. What that
	 * transaction read before is not protected by the lock.
	 */
	RELEASE_AFTER_COMPLETION

}
