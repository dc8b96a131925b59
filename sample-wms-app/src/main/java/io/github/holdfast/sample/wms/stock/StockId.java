package io.github.holdfast.sample.wms.stock;

/** Identifies the stock of one SKU of a customer in a warehouse. */
public record StockId(String customerNo, String warehouseCode, String sku) {

	/** The key of the lock that every change of this stock takes. */
	public String lockKey() {
		return "inventory:" + this.customerNo + ":" + this.warehouseCode + ":" + this.sku;
	}

	@Override
	public String toString() {
		return this.customerNo + "/" + this.warehouseCode + "/" + this.sku;
	}

}
