package io.github.holdfast.lab.strategy;

import java.util.concurrent.TimeUnit;

import org.redisson.api.RAtomicLong;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.transaction.annotation.Transactional;

@NodeComponent
class RedissonLocks {

	private final RedissonClient redisson;

	private final StockService stock;

	private final Shelf shelf;

	RedissonLocks(RedissonClient redisson, StockService stock, Shelf shelf) {
		this.redisson = redisson;
		this.stock = stock;
		this.shelf = shelf;
	}

	/** Takes a lock within the transaction, and gives it back before the commit. */
	@Transactional
	public boolean redisInsideTransaction(Order order) throws InterruptedException {
		RLock lock = lock(order);
		try {
			return this.stock.deduct(order); // in the same transaction
		}
		finally {
			lock.unlock();
			order.released();
		}
	}

	/**
	 * A lock whose watchdog renews it as long as the JVM runs. If that stands still, so
	 * does the watchdog.
	 */
	public boolean redissonWatchdog(Order order) throws InterruptedException {
		RLock lock = lock(order);
		try {
			return this.stock.deduct(order);
		}
		finally {
			if (lock.isHeldByCurrentThread()) {
				lock.unlock();
			}
			order.released();
		}
	}

	private RLock lock(Order order) throws InterruptedException {
		RLock lock = this.redisson.getLock(order.key());
		if (!lock.tryLock(order.remainingWait().toMillis(), TimeUnit.MILLISECONDS)) {
			throw new BusyException("The lock was busy");
		}
		order.acquired();
		return lock;
	}

	/**
	 * Counts the pieces in an {@code RAtomicLong}, and tells the database afterwards. If
	 * Redis forgets the number, it is taken from the database, which does not know yet of
	 * the orders that are on their way.
	 */
	@Transactional
	public boolean redisAtomicLong(Order order) {
		RAtomicLong available = this.redisson.getAtomicLong("available:" + order.sku());
		if (!available.isExists()) {
			available.compareAndSet(0, this.shelf.available(order));
		}
		if (available.addAndGet(-order.quantity()) < 0) {
			available.addAndGet(order.quantity());
			return false;
		}
		return this.shelf.subtract(order);
	}

}
