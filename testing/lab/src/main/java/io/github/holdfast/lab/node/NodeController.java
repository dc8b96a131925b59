package io.github.holdfast.lab.node;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.lab.strategy.BusyException;
import io.github.holdfast.lab.strategy.Mishap;
import io.github.holdfast.lab.strategy.Order;
import io.github.holdfast.lab.strategy.OrderOutcome;
import io.github.holdfast.lab.strategy.OrderRequest;
import io.github.holdfast.lab.strategy.OrderView;
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

	/** Makes what a strategy needs, so that the first order does not wait for it. */
	@GetMapping("/lab-node/strategies/{strategy}")
	String prepare(@PathVariable String strategy) {
		StrategyType type = StrategyType.of(strategy).orElseThrow();
		this.beans.getBean(type.type());
		return type.id();
	}

	@PostMapping("/lab-node/freeze")
	void freeze(@RequestParam Mishap.Moment moment, @RequestParam long millis) throws InterruptedException {
		Mishap.freeze(moment, Duration.ofMillis(millis)).happenSoon();
	}

	@PostMapping("/lab-node/kill")
	void kill(@RequestParam Mishap.Moment moment) throws InterruptedException {
		Mishap.kill(moment).happenSoon();
	}

	@PostMapping("/lab-node/orders")
	OrderView sell(@RequestBody OrderRequest request) {
		StrategyType type = StrategyType.of(request.strategy()).orElseThrow();
		Order order = new Order(request);
		try {
			boolean sold = type.sell(this.beans.getBean(type.type()), order);
			return order.view(this.node, sold ? OrderOutcome.SOLD : OrderOutcome.REFUSED, false, null, null);
		}
		catch (BusyException | LockNotAcquiredException | OptimisticLockingFailureException ex) {
			return order.view(this.node, OrderOutcome.BUSY, false, null, ex.getMessage());
		}
		catch (LockLostException ex) {
			return order.view(this.node, OrderOutcome.LOST, false, this.beans.getBean(Shelf.class).overtakenBy(order),
					ex.getMessage());
		}
		catch (Exception ex) {
			Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
			return order.view(this.node, OrderOutcome.FAILED, cause instanceof SQLTransientConnectionException, null,
					cause.toString());
		}
	}

}
