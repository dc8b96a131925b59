package io.github.holdfast.sample.wms.inventory;

import java.util.Comparator;

/**
 * Names the stock of one SKU of a customer in a warehouse.
 *
 * @param customerNo whose stock it is
 * @param warehouseCode where it is
 * @param sku what it is
 */
public record StockId(String customerNo, String warehouseCode, String sku) implements Comparable<StockId> {

	private static final Comparator<StockId> ORDER = Comparator.comparing(StockId::customerNo)
		.thenComparing(StockId::warehouseCode)
		.thenComparing(StockId::sku);

	/**
	 * The key of the lock that every change of this stock takes.
	 * @return the key
	 */
	public String lockKey() {
		return "inventory:" + this.customerNo + ":" + this.warehouseCode + ":" + this.sku;
	}

	@Override
	public int compareTo(StockId other) {
		return ORDER.compare(this, other);
	}

}
