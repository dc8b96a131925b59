package io.github.holdfast.lab.strategy;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A key in Redis that is there as long as somebody holds the lock. If a node dies
 * meanwhile, it is there for ever.
 */
@NodeComponent
class SetnxNoExpiry implements Strategy {

	private final StringRedisTemplate redis;

	private final StockService stock;

	SetnxNoExpiry(StringRedisTemplate redis, StockService stock) {
		this.redis = redis;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		while (!Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, "locked"))) {
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
