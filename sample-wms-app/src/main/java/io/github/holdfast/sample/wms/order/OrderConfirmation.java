package io.github.holdfast.sample.wms.order;

import io.github.holdfast.sample.wms.inventory.InventoryService;
import io.github.holdfast.sample.wms.inventory.StockLock;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Confirms orders under the locks of all their SKUs.
 */
@Component
class OrderConfirmation {

	private final OrderMapper orders;

	private final InventoryService inventory;

	OrderConfirmation(OrderMapper orders, InventoryService inventory) {
		this.orders = orders;
		this.inventory = inventory;
	}

	/**
	 * Deducts the order's lines and marks it as confirmed, once.
	 * @param order the order as it was read before the lock was taken
	 * @return the answer
	 */
	@StockLock("#order.stock.![lockKey]")
	@Transactional
	public Confirmation confirm(Order order) {
		// Only what is read under the lock counts: another call may have been faster
		OrderRow current = this.orders.find(order.orderNo());
		if (current == null) {
			throw new OrderNotFoundException(order.orderNo());
		}
		boolean alreadyConfirmed = (current.status() == OrderStatus.CONFIRMED);
		if (!alreadyConfirmed) {
			this.inventory.deduct(order.quantities());
			this.orders.updateStatus(order.orderNo(), OrderStatus.CONFIRMED);
		}
		return new Confirmation(order.orderNo(), OrderStatus.CONFIRMED, alreadyConfirmed);
	}

}
