package io.github.holdfast.sample.wms.sale;

/**
 * Thrown when a buyer wants more than the limit; nothing has been sold.
 */
public class LimitExceededException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param purchase what the buyer wants
	 * @param limit how many pieces a buyer may have
	 */
	public LimitExceededException(Purchase purchase, int limit) {
		super("Buyer '" + purchase.buyerNo() + "' may have " + limit + " pieces of '" + purchase.sku() + "'");
	}

}
