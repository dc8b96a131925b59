package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.UUID;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A key in Redis with an owner and an expiry, who asks whether it is still its own, and
 * then deletes it, by two commands. What expires between them is somebody else's key when
 * it is deleted.
 */
@NodeComponent
class GetThenDel implements Strategy {

	private final StringRedisTemplate redis;

	private final StockService stock;

	private final Duration leaseTime;

	GetThenDel(StringRedisTemplate redis, StockService stock, @Value("${lab.lease-time}") Duration leaseTime) {
		this.redis = redis;
		this.stock = stock;
		this.leaseTime = leaseTime;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		String owner = UUID.randomUUID().toString();
		while (!Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, owner, this.leaseTime))) {
			order.waitOrGiveUp();
		}
		order.acquired();
		try {
			return this.stock.deduct(order);
		}
		finally {
			if (owner.equals(this.redis.opsForValue().get(key))) {
				order.releasing();
				this.redis.delete(key);
			}
			order.released();
		}
	}

}
