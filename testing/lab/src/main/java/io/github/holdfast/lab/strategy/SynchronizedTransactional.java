package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

/**
 * Synchronizes the transactional method. The transaction is committed by the proxy around
 * it, when the monitor is free already.
 */
@NodeComponent
class SynchronizedTransactional implements Strategy {

	private final Shelf shelf;

	SynchronizedTransactional(Shelf shelf) {
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public synchronized boolean sell(Order order) {
		order.acquired();
		Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		boolean sold = this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
				stock.available() - order.quantity(), order.sku());
		order.released();
		return sold;
	}

}
