package io.github.holdfast.lab.strategy;

import java.util.concurrent.TimeUnit;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * A lock of Redisson, whose watchdog renews it as long as the JVM runs. If that stands
 * still, so does the watchdog.
 */
@NodeComponent
class RedissonWatchdog implements Strategy {

	private final RedissonClient redisson;

	private final StockService stock;

	RedissonWatchdog(RedissonClient redisson, StockService stock) {
		this.redisson = redisson;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) throws InterruptedException {
		RLock lock = this.redisson.getLock("stock:" + order.sku());
		if (!lock.tryLock(order.remainingWait().toMillis(), TimeUnit.MILLISECONDS)) {
			throw new BusyException("The lock was busy");
		}
		order.acquired();
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

}
