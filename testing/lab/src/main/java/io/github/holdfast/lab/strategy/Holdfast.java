package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/**
 * An annotation. The transaction commits while the lock is held; where the locks are and
 * who decides at the commit, the properties say.
 */
@NodeComponent
class Holdfast implements Strategy {

	private final Shelf shelf;

	Holdfast(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
	@DistributedLock(name = "stock", key = "'stock:' + #order.sku")
	@Transactional
	public boolean sell(Order order) {
		Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
				stock.available() - order.quantity(), order.sku());
	}

}
