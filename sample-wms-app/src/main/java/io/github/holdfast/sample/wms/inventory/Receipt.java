package io.github.holdfast.sample.wms.inventory;

import io.github.holdfast.sample.wms.request.Request;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * Pieces that have arrived in a warehouse.
 *
 * @param requestId the same each time this receipt is sent
 * @param customerNo whose pieces they are
 * @param warehouseCode where they have arrived
 * @param sku what they are
 * @param quantity how many have arrived
 */
public record Receipt(@Code String requestId, @Code String customerNo, @Code String warehouseCode, @Code String sku,
		@Min(1) @Max(1_000_000) int quantity) implements Request {

	/**
	 * Which stock they belong to.
	 * @return the stock
	 */
	public StockId stockId() {
		return new StockId(this.customerNo, this.warehouseCode, this.sku);
	}

}
