package io.github.holdfast.sample.wms.sale;

import io.github.holdfast.sample.wms.inventory.Code;
import io.github.holdfast.sample.wms.inventory.StockId;
import io.github.holdfast.sample.wms.request.Request;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * Pieces that somebody wants to have at once.
 *
 * @param requestId the same each time this purchase is sent
 * @param customerNo whose stock it takes
 * @param warehouseCode where the stock is
 * @param sku what is wanted
 * @param buyerNo who wants it
 * @param quantity how many pieces
 */
public record Purchase(@Code String requestId, @Code String customerNo, @Code String warehouseCode, @Code String sku,
		@Code String buyerNo, @Min(1) @Max(1_000_000) int quantity) implements Request {

	/**
	 * Which stock it takes.
	 * @return the stock
	 */
	public StockId stockId() {
		return new StockId(this.customerNo, this.warehouseCode, this.sku);
	}

}
