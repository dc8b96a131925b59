package io.github.holdfast.lab.strategy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import org.springframework.transaction.support.TransactionTemplate;

/**
 * A lock of the JVM with a time-out, around a transaction. A second node has a lock of
 * its own.
 */
@NodeComponent
class ReentrantLockCaller implements Strategy {

	private final Lock lock = new ReentrantLock();

	private final TransactionTemplate transaction;

	private final Shelf shelf;

	ReentrantLockCaller(TransactionTemplate transaction, Shelf shelf) {
		this.transaction = transaction;
		this.shelf = shelf;
	}

	@Override
	public boolean sell(Order order) throws InterruptedException {
		if (!this.lock.tryLock(order.remainingWait().toMillis(), TimeUnit.MILLISECONDS)) {
			throw new BusyException("The lock was busy");
		}
		order.acquired();
		try {
			return Boolean.TRUE.equals(this.transaction.execute((status) -> deduct(order)));
		}
		finally {
			this.lock.unlock();
			order.released();
		}
	}

	private boolean deduct(Order order) {
		Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
				stock.available() - order.quantity(), order.sku());
	}

}
