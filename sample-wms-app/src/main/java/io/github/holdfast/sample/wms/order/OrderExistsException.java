package io.github.holdfast.sample.wms.order;

/**
 * Thrown when the number of a new order belongs to another order already.
 */
public class OrderExistsException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String orderNo;

	/**
	 * Create a new exception.
	 * @param orderNo the number
	 */
	public OrderExistsException(String orderNo) {
		super("There is another order '" + orderNo + "' already");
		this.orderNo = orderNo;
	}

	/**
	 * The number that is taken.
	 * @return the number
	 */
	public String orderNo() {
		return this.orderNo;
	}

}
