package io.github.holdfast.sample.wms.order;

import java.util.List;
import java.util.UUID;

import io.github.holdfast.sample.wms.inventory.Code;
import io.github.holdfast.sample.wms.request.Request;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/**
 * An order as a client submits it that leaves its number to the service, and may submit
 * it again if it got no answer.
 *
 * @param requestId chosen by the client, the same each time it submits this order
 * @param customerNo whose stock it takes
 * @param warehouseCode where the stock is
 * @param lines what is ordered
 */
record NewSubmission(@Code String requestId, @Code String customerNo, @Code String warehouseCode,
		@NotEmpty @Size(max = 100) List<@NotNull @Valid OrderLine> lines) implements Request {

	Order toOrder() {
		return new Order(UUID.randomUUID().toString(), this.customerNo, this.warehouseCode, OrderStatus.CREATED,
				this.lines);
	}

}
