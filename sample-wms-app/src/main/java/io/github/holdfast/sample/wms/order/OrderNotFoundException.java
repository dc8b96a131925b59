package io.github.holdfast.sample.wms.order;

/**
 * Thrown when there is no order of a number.
 */
public class OrderNotFoundException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String orderNo;

	/**
	 * Create a new exception.
	 * @param orderNo the number
	 */
	public OrderNotFoundException(String orderNo) {
		super("There is no order '" + orderNo + "'");
		this.orderNo = orderNo;
	}

	/**
	 * The number that no order has.
	 * @return the number
	 */
	public String orderNo() {
		return this.orderNo;
	}

}
