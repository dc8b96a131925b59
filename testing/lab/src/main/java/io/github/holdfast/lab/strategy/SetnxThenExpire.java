package io.github.holdfast.lab.strategy;

import java.time.Duration;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Sets a key in Redis, and then its expiry, which are two commands. If a node dies
 * between them, the key stays for ever.
 */
@NodeComponent
class SetnxThenExpire implements Strategy {

	private final StringRedisTemplate redis;

	private final StockService stock;

	private final Duration leaseTime;

	SetnxThenExpire(StringRedisTemplate redis, StockService stock, @Value("${lab.lease-time}") Duration leaseTime) {
		this.redis = redis;
		this.stock = stock;
		this.leaseTime = leaseTime;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		while (!Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, "locked"))) {
			order.waitOrGiveUp();
		}
		order.work(); // a slow network, so that there is a moment in which the node can
						// die
		this.redis.expire(key, this.leaseTime);
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
