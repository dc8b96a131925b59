package io.github.holdfast.lab.node;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.lab.strategy.BusyException;
import io.github.holdfast.lab.strategy.Order;
import io.github.holdfast.lab.strategy.Shelf;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * Takes the orders that the lab sends to this node.
 */
@RestController
@Profile("lab-node")
class NodeController {

	private final BeanFactory beans;

	private final int node;

	NodeController(BeanFactory beans, @Value("${lab.node}") int node) {
		this.beans = beans;
		this.node = node;
	}

	/**
	 * Makes what a strategy needs, so that the first order does not wait for it.
	 */
	@GetMapping("/lab-node/strategies/{strategy}")
	String prepare(@PathVariable String strategy) {
		StrategyType type = StrategyType.of(strategy).orElseThrow();
		this.beans.getBean(type.type());
		return type.id();
	}

	@PostMapping("/lab-node/orders")
	OrderAnswer sell(@RequestBody OrderRequest request) {
		StrategyType type = StrategyType.of(request.strategy()).orElseThrow();
		Order order = new Order(request.number(), request.sku(), request.quantity(),
				Duration.ofMillis(request.workMs()), Duration.ofMillis(request.waitMs()));
		try {
			boolean sold = order.sellBy(this.beans.getBean(type.type()));
			return answer(order, sold ? OrderOutcome.SOLD : OrderOutcome.REFUSED, null);
		}
		catch (BusyException | LockNotAcquiredException | OptimisticLockingFailureException ex) {
			return answer(order, OrderOutcome.BUSY, ex.getMessage());
		}
		catch (LockLostException ex) {
			return answer(order, OrderOutcome.LOST, false, this.beans.getBean(Shelf.class).overtakenBy(order),
					ex.getMessage());
		}
		catch (Exception ex) {
			Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
			return answer(order, OrderOutcome.FAILED, cause instanceof SQLTransientConnectionException, null,
					cause.toString());
		}
	}

	private OrderAnswer answer(Order order, OrderOutcome outcome, @Nullable String message) {
		return answer(order, outcome, false, null, message);
	}

	private OrderAnswer answer(Order order, OrderOutcome outcome, boolean starved, @Nullable Long overtakenBy,
			@Nullable String message) {
		return new OrderAnswer(this.node, thread(), outcome, order.readAvailable(), order.wroteAvailable(),
				order.readChanges(), overtakenBy, order.times(), starved, message);
	}

	/**
	 * Tomcat's names begin with the address.
	 */
	private static String thread() {
		String name = Thread.currentThread().getName();
		return name.substring(Math.max(0, name.indexOf("exec-")));
	}

}
