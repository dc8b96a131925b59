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
	 * Let the call go on without the lock, count it, and log a warning for each place
	 * once: to find out where an application has such calls, before they are refused.
	 * What they do is not protected.
	 */
	REPORT,

	/**
	 * Take the lock and keep it until the running transaction has ended. What that
	 * transaction read before is not protected by the lock.
	 */
	RELEASE_AFTER_COMPLETION

}
