package io.github.holdfast.lab.strategy;

/**
 * Synchronizes the caller of the transactional method, so that the commit is inside. A
 * second node has a monitor of its own.
 */
@NodeComponent
class SynchronizedCaller implements Strategy {

	private final StockService stock;

	SynchronizedCaller(StockService stock) {
		this.stock = stock;
	}

	@Override
	public synchronized boolean sell(Order order) {
		order.acquired();
		try {
			return this.stock.deduct(order);
		}
		finally {
			order.released();
		}
	}

}
