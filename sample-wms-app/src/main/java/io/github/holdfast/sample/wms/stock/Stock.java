package io.github.holdfast.sample.wms.stock;

/** The stock of one SKU. */
public record Stock(String customerNo, String warehouseCode, String sku, long available) {

	static Stock of(StockId id, long available) {
		return new Stock(id.customerNo(), id.warehouseCode(), id.sku(), available);
	}

}
