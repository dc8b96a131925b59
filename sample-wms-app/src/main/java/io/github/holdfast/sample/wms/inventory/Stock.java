package io.github.holdfast.sample.wms.inventory;

/**
 * The stock of one SKU as it is shown to clients.
 *
 * @param customerNo whose stock it is
 * @param warehouseCode where it is
 * @param sku what it is
 * @param available how many pieces can still be sold
 */
public record Stock(String customerNo, String warehouseCode, String sku, long available) {

	static Stock of(StockId id, long available) {
		return new Stock(id.customerNo(), id.warehouseCode(), id.sku(), available);
	}

}
