package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

/**
 * Checks in memory what it has read, and overwrites the row. A transaction does not keep
 * others from reading the same.
 */
@NodeComponent
class MemoryOverwrite implements Strategy {

	private final Shelf shelf;

	MemoryOverwrite(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
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
