package io.github.holdfast.sample.wms.order;

import java.util.List;

import io.github.holdfast.sample.wms.inventory.Code;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/**
 * An order as a client asks for it.
 *
 * @param orderNo its number, chosen by the client
 * @param customerNo whose stock it takes
 * @param warehouseCode where the stock is
 * @param lines what is ordered
 */
record NewOrder(@Code String orderNo, @Code String customerNo, @Code String warehouseCode,
		@NotEmpty @Size(max = 100) List<@NotNull @Valid OrderLine> lines) {

	Order toOrder() {
		return new Order(this.orderNo, this.customerNo, this.warehouseCode, OrderStatus.CREATED, this.lines);
	}

}
