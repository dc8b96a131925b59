package io.github.holdfast.lab.strategy;

import java.sql.SQLTransientConnectionException;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;

/**
 * Takes the orders that the lab sends to this node.
 */
@RestController
@Profile("lab-node")
record NodeController(BeanFactory beans, @Value("${lab.node}") int node) {

	@PostMapping("/lab-node/freeze")
	void freeze(@RequestParam Mishap.Moment moment, @RequestParam long millis) throws InterruptedException {
		Mishap.freeze(moment, millis).happenSoon();
	}

	@PostMapping("/lab-node/kill")
	void kill(@RequestParam Mishap.Moment moment) throws InterruptedException {
		Mishap.kill(moment).happenSoon();
	}

	@PostMapping("/lab-node/orders")
	OrderView sell(@RequestBody Order.Request request) {
		StrategyType type = StrategyType.of(request.strategy()).orElseThrow();
		Order order = new Order(request);
		try {
			boolean sold = type.sell(this.beans.getBean(type.type()), order);
			return order.view(this.node, sold ? OrderView.Outcome.SOLD : OrderView.Outcome.REFUSED, false, null, null);
		}
		catch (BusyException | LockNotAcquiredException | OptimisticLockingFailureException ex) {
			return order.view(this.node, OrderView.Outcome.BUSY, false, null, ex.getMessage());
		}
		catch (LockLostException ex) {
			return order.view(this.node, OrderView.Outcome.LOST, false,
					this.beans.getBean(Shelf.class).overtakenBy(order), ex.getMessage());
		}
		catch (Exception ex) {
			Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
			return order.view(this.node, OrderView.Outcome.FAILED, cause instanceof SQLTransientConnectionException,
					null, cause.toString());
		}
	}

}
