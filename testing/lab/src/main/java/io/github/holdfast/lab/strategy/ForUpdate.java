package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

/**
 * Locks the row when it reads it, until the transaction ends. The primary key finds it;
 * without a unique key, all rows that are looked through would be locked, and the gaps
 * between them.
 */
@NodeComponent
class ForUpdate implements Strategy {

	private final Shelf shelf;

	ForUpdate(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public boolean sell(Order order) {
		Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ? FOR UPDATE");
		if (stock.available() < order.quantity()) {
			return false;
		}
		return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
				stock.available() - order.quantity(), order.sku());
	}

}
