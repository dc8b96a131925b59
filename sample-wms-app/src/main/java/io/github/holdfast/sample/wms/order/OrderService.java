package io.github.holdfast.sample.wms.order;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Service;

/**
 * Creates, confirms and reads orders. Has no transactions of its own: a lock must be
 * taken before the transaction that it protects.
 */
@Service
class OrderService {

	private final OrderRepository orders;

	private final OrderConfirmation confirmation;

	OrderService(OrderRepository orders, OrderConfirmation confirmation) {
		this.orders = orders;
		this.confirmation = confirmation;
	}

	/**
	 * Creates an order.
	 * @param order the order
	 * @return whether it was created; {@code false} if an earlier call has created the
	 * same
	 * @throws OrderExistsException if its number belongs to another order
	 */
	boolean create(Order order) {
		try {
			this.orders.insert(order);
			return true;
		}
		catch (DuplicateKeyException ex) {
			if (!get(order.orderNo()).asksForTheSameAs(order)) {
				throw new OrderExistsException(order.orderNo());
			}
			return false;
		}
	}

	Confirmation confirm(String orderNo) {
		return this.confirmation.confirm(get(orderNo));
	}

	Order get(String orderNo) {
		return this.orders.find(orderNo).orElseThrow(() -> new OrderNotFoundException(orderNo));
	}

}
