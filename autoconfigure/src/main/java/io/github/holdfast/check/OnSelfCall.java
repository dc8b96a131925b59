package io.github.holdfast.check;

/**
 * What to do about a class whose methods call a locked method of their own object. Such a
 * call bypasses the proxy, so it takes no lock.
 *
 * @since 0.2.0
 */
public enum OnSelfCall {

	/** Fail the start, or the creation of a bean that is made later. */
	REJECT,

	/** Log a warning for each class. */
	WARN

}
