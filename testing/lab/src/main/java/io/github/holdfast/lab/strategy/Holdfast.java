package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/**
 * An annotation. The transaction commits while the lock is held; where the locks are and
 * who decides at the commit, the properties say.
 */
@NodeComponent
class Holdfast {

	private final StockService stock;

	Holdfast(StockService stock) {
		this.stock = stock;
	}

	@DistributedLock(name = "stock", key = "'stock:' + #order.sku")
	@Transactional
	public boolean sell(Order order) {
		return this.stock.deduct(order); // in the same transaction
	}

}
