package io.github.holdfast.sample.wms.order;

/**
 * How far an order is.
 */
public enum OrderStatus {

	/** Created; nothing has been deducted. */
	CREATED,

	/** Confirmed; its lines have been deducted from stock. */
	CONFIRMED

}
