package io.github.holdfast.transaction;

/**
 * What happens to an open persistence context ("open session in view") that may hold
 * entities from before the lock.
 */
public enum StaleContext {

	/** The locked call gets a separate persistence context. */
	ISOLATE,

	/** The locked call uses the open one. */
	ALLOW

}
