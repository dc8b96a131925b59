package io.github.holdfast.lab.strategy;

import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.transaction.annotation.Transactional;

/**
 * Locks nothing, but only writes if the version is still the one that it has read. A
 * version only grows. The stock itself may have been 40, 39 and 40 again meanwhile (ABA),
 * if somebody has sent a piece back.
 */
@NodeComponent
class Optimistic implements Strategy {

	private final Shelf shelf;

	Optimistic(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public boolean sell(Order order) {
		Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		boolean written = this.shelf.write(order,
				"UPDATE lab_stock SET available = ?, version = version + 1 WHERE sku = ? AND version = ?",
				stock.available() - order.quantity(), order.sku(), stock.version());
		if (!written) {
			throw new OptimisticLockingFailureException("Somebody else was quicker");
		}
		return true;
	}

}
