package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

/**
 * Checks in memory what it has read, and lets the database subtract. Nothing is
 * overwritten, but what was checked may not be true any more.
 */
@NodeComponent
class MemoryDecrement implements Strategy {

	private final Shelf shelf;

	MemoryDecrement(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public boolean sell(Order order) {
		Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		return this.shelf.write(order, "UPDATE lab_stock SET available = available - ? WHERE sku = ?", order.quantity(),
				order.sku());
	}

}
