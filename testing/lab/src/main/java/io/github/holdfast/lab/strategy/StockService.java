package io.github.holdfast.lab.strategy;

import org.springframework.transaction.annotation.Transactional;

/**
 * Deducts stock as everybody would write it: read, check, overwrite. It is right as long
 * as nobody else does so at the same time, which its callers have to see to.
 */
@NodeComponent
public class StockService {

	private final Shelf shelf;

	StockService(Shelf shelf) {
		this.shelf = shelf;
	}

	/** Takes the pieces of an order out of the stock, in a transaction. */
	@Transactional
	public boolean deduct(Order order) {
		Shelf.Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
				stock.available() - order.quantity(), order.sku());
	}

}
