package io.github.holdfast.sample.wms.inventory;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * Pieces that have arrived in a warehouse.
 *
 * @param customerNo whose pieces they are
 * @param warehouseCode where they have arrived
 * @param sku what they are
 * @param quantity how many have arrived
 */
record Receipt(@Code String customerNo, @Code String warehouseCode, @Code String sku,
		@Min(1) @Max(1_000_000) int quantity) {

	StockId stockId() {
		return new StockId(this.customerNo, this.warehouseCode, this.sku);
	}

}
