package io.github.holdfast.lab.strategy;

import java.util.concurrent.TimeUnit;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.transaction.annotation.Transactional;

/**
 * Takes a lock of Redis within the transaction, and gives it back before the commit.
 */
@NodeComponent
class RedisInsideTransaction implements Strategy {

	private final RedissonClient redisson;

	private final Shelf shelf;

	RedisInsideTransaction(RedissonClient redisson, Shelf shelf) {
		this.redisson = redisson;
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public boolean sell(Order order) throws InterruptedException {
		RLock lock = this.redisson.getLock("stock:" + order.sku());
		if (!lock.tryLock(order.remainingWait().toMillis(), TimeUnit.MILLISECONDS)) {
			throw new BusyException("The lock was busy");
		}
		order.acquired();
		try {
			Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
			if (stock.available() < order.quantity()) {
				return false;
			}
			return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
					stock.available() - order.quantity(), order.sku());
		}
		finally {
			lock.unlock();
			order.released();
		}
	}

}
