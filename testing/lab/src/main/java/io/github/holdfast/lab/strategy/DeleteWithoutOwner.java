package io.github.holdfast.lab.strategy;

import java.time.Duration;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A key in Redis that expires, and is deleted by whoever has finished. One who takes
 * longer than the expiry deletes the key of the next one, who then is not alone either.
 */
@NodeComponent
class DeleteWithoutOwner implements Strategy {

	/** Longer than it usually takes. */
	private static final Duration LEASE = Duration.ofMillis(20);

	private final StringRedisTemplate redis;

	private final StockService stock;

	DeleteWithoutOwner(StringRedisTemplate redis, StockService stock) {
		this.redis = redis;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		while (!Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, "locked", LEASE))) {
			order.waitOrGiveUp();
		}
		order.acquired();
		try {
			return this.stock.deduct(order);
		}
		finally {
			this.redis.delete(key);
			order.released();
		}
	}

}
