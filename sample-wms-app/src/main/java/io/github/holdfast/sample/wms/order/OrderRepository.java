package io.github.holdfast.sample.wms.order;

import java.util.Optional;

import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * The orders with their lines.
 */
@Repository
class OrderRepository {

	private final OrderMapper orders;

	OrderRepository(OrderMapper orders) {
		this.orders = orders;
	}

	Optional<Order> find(String orderNo) {
		return Optional.ofNullable(this.orders.find(orderNo))
			.map((row) -> row.withLines(this.orders.findLines(orderNo)));
	}

	@Transactional
	void insert(Order order) {
		this.orders.insert(order);
		this.orders.insertLines(order);
	}

}
