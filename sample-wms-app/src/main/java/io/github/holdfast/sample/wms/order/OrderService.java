package io.github.holdfast.sample.wms.order;

import io.github.holdfast.sample.wms.ProblemException;
import io.github.holdfast.sample.wms.order.Order.Status;
import io.github.holdfast.sample.wms.stock.StockLock;
import io.github.holdfast.sample.wms.stock.StockService;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Creates, confirms and reads orders. */
@Service
public class OrderService {

	private final OrderMapper orders;

	private final StockService stock;

	OrderService(OrderMapper orders, StockService stock) {
		this.orders = orders;
		this.stock = stock;
	}

	/** Creates an order. Its number is the primary key, so no lock is needed. */
	@Transactional
	public void create(Order order) {
		this.orders.insert(order.with(Status.CREATED));
		for (int i = 0; i < order.lines().size(); i++) {
			this.orders.insertLine(order.orderNo(), i, order.lines().get(i));
		}
	}

	/**
	 * Deducts the lines of an order from stock and marks it as confirmed, once. The lines
	 * never change, so the keys may be read before the lock; the status may not.
	 */
	@StockLock("@orderService.get(#orderNo).stock.![lockKey]")
	@Transactional
	public Confirmation confirm(String orderNo) {
		Order order = get(orderNo);
		boolean alreadyConfirmed = (order.status() == Status.CONFIRMED);
		if (!alreadyConfirmed) {
			this.stock.deduct(order.quantities());
			this.orders.updateStatus(orderNo, Status.CONFIRMED);
		}
		return new Confirmation(orderNo, Status.CONFIRMED, alreadyConfirmed);
	}

	public Order get(String orderNo) {
		return this.orders.findHeader(orderNo)
			.map((header) -> new Order(orderNo, header.customerNo(), header.warehouseCode(), header.status(),
					this.orders.findLines(orderNo)))
			.orElseThrow(() -> ProblemException.notFound("unknown-order", "There is no order '" + orderNo + "'"));
	}

	public record Confirmation(String orderNo, Status status, boolean alreadyConfirmed) {
	}

}
