package io.github.holdfast.lab.strategy;

/**
 * What became of an order.
 */
public enum OrderOutcome {

	SOLD, REFUSED,

	/** Others were quicker, for as long as it waited. */
	BUSY,

	/** Its lock was lost, so it was rolled back. */
	LOST,

	/** Something else went wrong: the pool had no connection for it, or its node died. */
	FAILED

}
