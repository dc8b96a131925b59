package io.github.holdfast.check;

/**
 * What to do about a locked method with a parameter that is a JPA entity without a
 * version. Who has read it before the lock saves what it was then, over what others have
 * done since, and nobody notices.
 *
 * @since 0.2.0
 */
public enum OnEntityArgument {

	/** Fail the start, or the creation of a bean that is made later. */
	REJECT,

	/** Log a warning for each class. */
	WARN,

	/** Say nothing, as such methods only read the key, or save what is new. */
	ALLOW

}
