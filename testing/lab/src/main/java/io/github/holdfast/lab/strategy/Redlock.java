package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The same key on three servers of Redis, of which two must grant it. One server may be
 * down; but if one comes back without its data, two holders may have two servers each,
 * and one who stands still does not know that it is not alone any more.
 */
@NodeComponent
class Redlock implements Strategy {

	private static final RedisScript<Long> RELEASE = RedisScript.of("""
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				return redis.call('DEL', KEYS[1])
			end
			return 0""", Long.class);

	private final List<StringRedisTemplate> servers;

	private final StockService stock;

	private final Duration leaseTime;

	Redlock(RedisServers servers, StockService stock, @Value("${lab.lease-time}") Duration leaseTime) {
		this.servers = servers.templates();
		this.stock = stock;
		this.leaseTime = leaseTime;
	}

	@Override
	public boolean sell(Order order) {
		String key = "stock:" + order.sku();
		String owner = UUID.randomUUID().toString();
		while (!tryLock(key, owner)) {
			order.waitOrGiveUp();
		}
		order.acquired();
		try {
			return this.stock.deduct(order);
		}
		finally {
			unlock(key, owner);
			order.released();
		}
	}

	private boolean tryLock(String key, String owner) {
		Instant end = Instant.now().plus(this.leaseTime);
		long granted = onEach(
				(server) -> Boolean.TRUE.equals(server.opsForValue().setIfAbsent(key, owner, this.leaseTime)));
		if (granted > this.servers.size() / 2 && Instant.now().isBefore(end)) {
			return true;
		}
		unlock(key, owner);
		return false;
	}

	private void unlock(String key, String owner) {
		onEach((server) -> Long.valueOf(1).equals(server.execute(RELEASE, List.of(key), owner)));
	}

	/**
	 * Counts the servers that say yes.
	 */
	private long onEach(Predicate<StringRedisTemplate> command) {
		return this.servers.stream().filter((server) -> {
			try {
				return command.test(server);
			}
			catch (DataAccessException ex) {
				return false; // this one is down
			}
		}).count();
	}

}
