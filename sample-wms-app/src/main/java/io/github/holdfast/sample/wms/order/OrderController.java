package io.github.holdfast.sample.wms.order;

import io.github.holdfast.sample.wms.ProblemException;
import io.github.holdfast.sample.wms.order.OrderService.Confirmation;
import jakarta.validation.Valid;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/orders")
class OrderController {

	private final OrderService orders;

	OrderController(OrderService orders) {
		this.orders = orders;
	}

	/** Returns 200 instead of 201 if an earlier request has created the same order. */
	@PostMapping
	ResponseEntity<Order> create(@Valid @RequestBody Order order) {
		try {
			this.orders.create(order);
			return ResponseEntity.status(HttpStatus.CREATED).body(this.orders.get(order.orderNo()));
		}
		catch (DuplicateKeyException ex) {
			Order existing = this.orders.get(order.orderNo());
			if (!order.with(existing.status()).equals(existing)) {
				throw ProblemException.conflict("order-exists", "There is another order '" + order.orderNo() + "'");
			}
			return ResponseEntity.ok(existing);
		}
	}

	@PostMapping("/{orderNo}/confirm")
	Confirmation confirm(@PathVariable String orderNo) {
		return this.orders.confirm(orderNo);
	}

	@GetMapping("/{orderNo}")
	Order get(@PathVariable String orderNo) {
		return this.orders.get(orderNo);
	}

}
