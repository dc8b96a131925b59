package io.github.holdfast.cost;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/**
 * Sells from one stock: reads a row, and writes it.
 */
class Shop {

	private final JdbcTemplate jdbc;

	Shop(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		jdbc.execute("CREATE TABLE stock (sku integer PRIMARY KEY, quantity integer NOT NULL)");
		jdbc.update("INSERT INTO stock VALUES (1, 1000)");
	}

	@DistributedLock(key = "#key")
	@Transactional
	public void sell(String key, Runnable between) {
		sell(between);
	}

	@DistributedLock(key = "{#key, 'other ' + #key}")
	@Transactional
	public void sellUnderTwo(String key, Runnable between) {
		sell(between);
	}

	private void sell(Runnable between) {
		this.jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 1", Integer.class);
		between.run();
		this.jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = 1");
	}

}
