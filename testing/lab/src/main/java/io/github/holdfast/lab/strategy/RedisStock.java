package io.github.holdfast.lab.strategy;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/**
 * Counts the pieces in Redis, and tells the database afterwards. If Redis forgets the
 * number, it is taken from the database, which does not know yet of the orders that are
 * on their way.
 */
@NodeComponent
class RedisStock implements Strategy {

	private final StringRedisTemplate redis;

	private final JdbcClient jdbc;

	private final Shelf shelf;

	RedisStock(StringRedisTemplate redis, JdbcClient jdbc, Shelf shelf) {
		this.redis = redis;
		this.jdbc = jdbc;
		this.shelf = shelf;
	}

	@Override
	@Transactional
	public boolean sell(Order order) {
		String key = "available:" + order.sku();
		if (!Boolean.TRUE.equals(this.redis.hasKey(key))) {
			String available = this.jdbc.sql("SELECT available FROM lab_stock WHERE sku = ?")
				.param(order.sku())
				.query(String.class)
				.single();
			this.redis.opsForValue().setIfAbsent(key, available);
		}
		Long left = this.redis.opsForValue().decrement(key, order.quantity());
		if (left == null || left < 0) {
			this.redis.opsForValue().increment(key, order.quantity());
			return false;
		}
		order.work();
		return this.shelf.write(order, "UPDATE lab_stock SET available = available - ? WHERE sku = ?", order.quantity(),
				order.sku());
	}

}
