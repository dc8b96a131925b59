package io.github.holdfast.sample.wms.order;

import java.util.List;

/**
 * A row of {@code outbound_order}.
 *
 * @param orderNo the order's number
 * @param customerNo whose stock it takes
 * @param warehouseCode where the stock is
 * @param status how far it is
 */
public record OrderRow(String orderNo, String customerNo, String warehouseCode, OrderStatus status) {

	Order withLines(List<OrderLine> lines) {
		return new Order(this.orderNo, this.customerNo, this.warehouseCode, this.status, lines);
	}

}
