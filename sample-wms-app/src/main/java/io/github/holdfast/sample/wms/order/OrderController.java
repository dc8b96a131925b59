package io.github.holdfast.sample.wms.order;

import jakarta.validation.Valid;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * Orders over HTTP.
 */
@RestController
@RequestMapping("/orders")
class OrderController {

	private final OrderService orders;

	OrderController(OrderService orders) {
		this.orders = orders;
	}

	@PostMapping
	ResponseEntity<Order> create(@Valid @RequestBody NewOrder newOrder, UriComponentsBuilder uri) {
		boolean created = this.orders.create(newOrder.toOrder());
		Order order = this.orders.get(newOrder.orderNo());
		return created ? ResponseEntity.created(uri.path("/orders/{orderNo}").build(order.orderNo())).body(order)
				: ResponseEntity.ok(order);
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
