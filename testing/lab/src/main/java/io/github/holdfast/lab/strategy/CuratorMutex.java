package io.github.holdfast.lab.strategy;

import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * A lock of ZooKeeper by Curator's recipe, which is there as long as the session is. If
 * the JVM stands still for longer, the next one gets the lock.
 */
@NodeComponent
class CuratorMutex implements Strategy {

	private final CuratorFramework curator;

	private final StockService stock;

	CuratorMutex(CuratorFramework curator, StockService stock) {
		this.curator = curator;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) throws Exception {
		InterProcessMutex lock = new InterProcessMutex(this.curator, "/stock/" + order.sku());
		if (!lock.acquire(order.remainingWait().toMillis(), TimeUnit.MILLISECONDS)) {
			throw new BusyException("The lock was busy");
		}
		order.acquired();
		try {
			return this.stock.deduct(order);
		}
		finally {
			lock.release();
			order.released();
		}
	}

}
