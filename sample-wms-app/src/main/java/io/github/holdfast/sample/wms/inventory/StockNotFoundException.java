package io.github.holdfast.sample.wms.inventory;

/**
 * Thrown when there never was any stock of a SKU.
 */
public class StockNotFoundException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param id which stock was looked for
	 */
	public StockNotFoundException(StockId id) {
		super("There is no stock of '" + id.sku() + "' of customer '" + id.customerNo() + "' in warehouse '"
				+ id.warehouseCode() + "'");
	}

}
