package io.github.holdfast.transaction;

/**
 * What happens to a locked call inside a running transaction. That transaction may have
 * read old data, and it commits after the lock is released.
 */
public enum OnActiveTransaction {

	/** The call fails with an {@link IllegalStateException}. */
	REJECT,

	/** The call runs, with one warning for each lock name. */
	WARN

}
