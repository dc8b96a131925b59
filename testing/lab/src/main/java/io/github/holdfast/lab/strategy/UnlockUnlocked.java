package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The lock is given back in {@code finally}, although it may not have been obtained; and
 * the script that asks for the owner is told whoever the key names.
 */
@NodeComponent
class UnlockUnlocked implements Strategy {

	private static final RedisScript<Long> RELEASE = RedisScript.of("""
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				return redis.call('DEL', KEYS[1])
			end
			return 0""", Long.class);

	private final StringRedisTemplate redis;

	private final StockService stock;

	private final Duration leaseTime;

	UnlockUnlocked(StringRedisTemplate redis, StockService stock, @Value("${lab.lease-time}") Duration leaseTime) {
		this.redis = redis;
		this.stock = stock;
		this.leaseTime = leaseTime;
	}

	@Override
	public boolean sell(Order order) {
		while (true) {
			try {
				return sellAtOnce(order);
			}
			catch (BusyException ex) {
				order.waitOrGiveUp();
			}
		}
	}

	private boolean sellAtOnce(Order order) {
		String key = "stock:" + order.sku();
		try {
			String owner = UUID.randomUUID().toString();
			if (!Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, owner, this.leaseTime))) {
				throw new BusyException("The lock was busy");
			}
			order.acquired();
			return this.stock.deduct(order);
		}
		finally {
			String owner = this.redis.opsForValue().get(key);
			this.redis.execute(RELEASE, List.of(key), String.valueOf(owner)); // whoever's
																				// it is
			order.released();
		}
	}

}
