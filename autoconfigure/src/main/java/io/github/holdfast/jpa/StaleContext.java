package io.github.holdfast.jpa;

/**
 * What to do with a JPA persistence context that holds entities when a lock is about to
 * be taken. It does not read them again, so the body would compute from the state before
 * the lock and write that back.
 *
 * @since 0.2.0
 */
public enum StaleContext {

	/**
	 * Give the call a context of its own, and put the outer one back when it is over. A
	 * context with changes that are not flushed is refused, and so is one of a running
	 * transaction that the call joins.
	 */
	ISOLATE,

	/** Refuse the call before anything is acquired. */
	REJECT,

	/**
	 * Clear the context when the lock is held, which detaches its entities. With changes
	 * that are not flushed, refuse the call instead.
	 */
	CLEAR,

	/** Go on with the entities as they are. */
	ALLOW

}
