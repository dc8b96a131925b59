package io.github.holdfast.sample.wms.inventory;

import java.util.List;

/**
 * Thrown when stock does not suffice; nothing has been deducted.
 */
public class InsufficientStockException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient List<Shortage> shortages;

	/**
	 * Create a new exception.
	 * @param shortages what is missing
	 */
	public InsufficientStockException(List<Shortage> shortages) {
		super("Not enough stock of " + shortages.stream().map(Shortage::sku).toList());
		this.shortages = List.copyOf(shortages);
	}

	/**
	 * What is missing.
	 * @return one entry for each SKU that does not suffice
	 */
	public List<Shortage> shortages() {
		return this.shortages;
	}

	/**
	 * A SKU that does not suffice.
	 *
	 * @param sku the SKU
	 * @param requested how many pieces were asked for
	 * @param available how many there are
	 */
	public record Shortage(String sku, long requested, long available) {
	}

}
