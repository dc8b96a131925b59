package io.github.holdfast.sample.wms.order;

import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import io.github.holdfast.sample.wms.inventory.StockId;

/**
 * An outbound order. Its lines never change; its status does, so a copy that was read
 * outside of the lock may be out of date.
 *
 * @param orderNo its number
 * @param customerNo whose stock it takes
 * @param warehouseCode where the stock is
 * @param status how far it is
 * @param lines what is ordered; several lines may name the same SKU
 */
public record Order(String orderNo, String customerNo, String warehouseCode, OrderStatus status,
		List<OrderLine> lines) {

	/**
	 * Which stock the order takes.
	 * @return each stock once
	 */
	public Set<StockId> stock() {
		return quantities().keySet();
	}

	/**
	 * How many pieces of which stock the order takes, all lines of a SKU together.
	 * @return the quantities by stock
	 */
	SortedMap<StockId, Long> quantities() {
		SortedMap<StockId, Long> quantities = new TreeMap<>();
		this.lines.forEach((line) -> quantities.merge(new StockId(this.customerNo, this.warehouseCode, line.sku()),
				(long) line.quantity(), Long::sum));
		return quantities;
	}

	boolean asksForTheSameAs(Order other) {
		return this.customerNo.equals(other.customerNo) && this.warehouseCode.equals(other.warehouseCode)
				&& this.lines.equals(other.lines);
	}

}
