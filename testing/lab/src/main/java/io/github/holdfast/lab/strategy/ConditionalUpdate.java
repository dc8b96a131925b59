package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

/**
 * Checks and subtracts in one statement. The database lets nobody in between.
 */
@NodeComponent
class ConditionalUpdate implements Strategy {

	private final Shelf shelf;

	ConditionalUpdate(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public boolean sell(Order order) {
		order.work();
		return this.shelf.write(order,
				"UPDATE lab_stock SET available = available - ? WHERE sku = ? AND available >= ?", order.quantity(),
				order.sku(), order.quantity());
	}

}
