package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.holdfast.LockListener;

/**
 * Notes when Holdfast's locks are held by an order.
 */
@NodeComponent
class LockTimes implements LockListener {

	private final Map<Long, Order> orders = new ConcurrentHashMap<>();

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		Order order = Order.current();
		if (order != null) {
			order.acquired();
			this.orders.put(call.id(), order);
		}
	}

	@Override
	public void onReleased(Call call, Outcome outcome, Duration holdTime) {
		// On another thread, if the order did not wait for the answer of the store
		Order order = this.orders.remove(call.id());
		if (order != null) {
			order.released();
		}
	}

}
