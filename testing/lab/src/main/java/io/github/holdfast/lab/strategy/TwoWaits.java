package io.github.holdfast.lab.strategy;

import java.util.UUID;

/**
 * The same lock, but whoever has waited for it twice gives up. Nothing is sold twice, but
 * orders are turned away while there is stock for them.
 */
@NodeComponent
class TwoWaits implements Strategy {

	private static final int MOST_WAITS = 2;

	private final InsertLock lock;

	TwoWaits(InsertLock lock) {
		this.lock = lock;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		String holder = UUID.randomUUID().toString();
		for (int waits = 0; !this.lock.insert(key, holder); waits++) {
			if (waits == MOST_WAITS) {
				throw new BusyException("Waited twice in vain");
			}
			order.waitOrGiveUp();
		}
		return this.lock.sellLocked(order, key, holder);
	}

}
