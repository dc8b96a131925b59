package io.github.holdfast.sample.wms.item;

/**
 * Thrown when nothing was ever stored about an item.
 */
public class ItemNotFoundException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param sku which item was looked for
	 */
	public ItemNotFoundException(String sku) {
		super("There is no item '" + sku + "'");
	}

}
