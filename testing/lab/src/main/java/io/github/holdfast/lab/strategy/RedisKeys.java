package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.transaction.annotation.Transactional;

/**
 * Strategies with a key in Redis, of a lock or of the stock.
 */
@NodeComponent
class RedisKeys {

	private static final RedisScript<Long> DELETE_IF_OWNER = RedisScript.of("""
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				return redis.call('DEL', KEYS[1])
			end
			return 0""", Long.class);

	private static final Duration LONGER_THAN_USUAL = Duration.ofMillis(20);

	private final StringRedisTemplate redis;

	private final StockService stock;

	private final Shelf shelf;

	private final Duration leaseTime;

	RedisKeys(StringRedisTemplate redis, StockService stock, Shelf shelf,
			@Value("${lab.lease-time}") Duration leaseTime) {
		this.redis = redis;
		this.stock = stock;
		this.shelf = shelf;
		this.leaseTime = leaseTime;
	}

	/**
	 * A key that is there as long as somebody holds the lock. If a node dies meanwhile,
	 * it is there for ever.
	 */
	public boolean setnxNoExpiry(Order order) {
		String key = order.key();
		return order.sellLocked(() -> this.redis.opsForValue().setIfAbsent(key, "locked"), this.stock,
				() -> this.redis.delete(key));
	}

	/**
	 * A key that expires, and is deleted by whoever has finished. One who takes longer
	 * than the expiry deletes the key of the next one, who then is not alone either.
	 */
	public boolean deleteWithoutOwner(Order order) {
		String key = order.key();
		return order.sellLocked(() -> this.redis.opsForValue().setIfAbsent(key, "locked", LONGER_THAN_USUAL),
				this.stock, () -> this.redis.delete(key));
	}

	/**
	 * A key with an owner and an expiry, who asks whether it is still its own, and then
	 * deletes it, by two commands. What expires between them is somebody else's key when
	 * it is deleted.
	 */
	public boolean getThenDel(Order order) {
		String key = order.key();
		String owner = UUID.randomUUID().toString();
		return order.sellLocked(() -> this.redis.opsForValue().setIfAbsent(key, owner, this.leaseTime), this.stock,
				() -> {
					if (owner.equals(this.redis.opsForValue().get(key))) {
						order.releasing();
						this.redis.delete(key);
					}
				});
	}

	/**
	 * A key with an owner and an expiry, set by one command, and deleted by its owner
	 * only. One who stands still for longer than the expiry does not know that it is not
	 * alone any more.
	 */
	public boolean redisPxLua(Order order) {
		String key = order.key();
		String owner = UUID.randomUUID().toString();
		return order.sellLocked(() -> this.redis.opsForValue().setIfAbsent(key, owner, this.leaseTime), this.stock,
				() -> {
					order.releasing();
					this.redis.execute(DELETE_IF_OWNER, List.of(key), owner);
				});
	}

	/**
	 * The lock is given back in {@code finally}, although it may not have been obtained;
	 * and the script that asks for the owner is told whoever the key names.
	 */
	public boolean unlockUnlocked(Order order) {
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
		String key = order.key();
		try {
			String owner = UUID.randomUUID().toString();
			if (!Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, owner, this.leaseTime))) {
				throw new BusyException("The lock was busy");
			}
			order.acquired();
			return this.stock.deduct(order);
		}
		finally {
			String whoever = String.valueOf(this.redis.opsForValue().get(key));
			this.redis.execute(DELETE_IF_OWNER, List.of(key), whoever);
			order.released();
		}
	}

	/**
	 * Counts the pieces in Redis, and tells the database afterwards. If Redis forgets the
	 * number, it is taken from the database, which does not know yet of the orders that
	 * are on their way.
	 */
	@Transactional
	public boolean redisStock(Order order) {
		String key = "available:" + order.sku();
		if (!Boolean.TRUE.equals(this.redis.hasKey(key))) {
			this.redis.opsForValue().setIfAbsent(key, String.valueOf(this.shelf.available(order)));
		}
		Long left = this.redis.opsForValue().decrement(key, order.quantity());
		if (left == null || left < 0) {
			this.redis.opsForValue().increment(key, order.quantity());
			return false;
		}
		return this.shelf.subtract(order);
	}

}
