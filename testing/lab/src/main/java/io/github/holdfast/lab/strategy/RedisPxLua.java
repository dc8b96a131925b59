package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A key in Redis with an owner and an expiry, set by one command, and deleted by its
 * owner only. One who stands still for longer than the expiry does not know that it is
 * not alone any more.
 */
@NodeComponent
class RedisPxLua implements Strategy {

	private static final RedisScript<Long> RELEASE = RedisScript.of("""
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				return redis.call('DEL', KEYS[1])
			end
			return 0""", Long.class);

	private final StringRedisTemplate redis;

	private final StockService stock;

	private final Duration leaseTime;

	RedisPxLua(StringRedisTemplate redis, StockService stock, @Value("${lab.lease-time}") Duration leaseTime) {
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
			order.releasing();
			this.redis.execute(RELEASE, List.of(key), owner);
			order.released();
		}
	}

}
