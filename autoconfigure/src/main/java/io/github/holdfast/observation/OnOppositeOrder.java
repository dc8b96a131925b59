package io.github.holdfast.observation;

/**
 * What to do about calls that take locks inside of one another in opposite orders, and so
 * may wait for each other.
 *
 * @since 0.2.0
 */
public enum OnOppositeOrder {

	/** Log a warning for each pair of locks. */
	WARN,

	/** Do not look for them. */
	ALLOW

}
