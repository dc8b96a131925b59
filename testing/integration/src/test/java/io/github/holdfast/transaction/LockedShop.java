package io.github.holdfast.transaction;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/** Sells from one stock. */
class LockedShop {

	private final JdbcTemplate jdbc;

	LockedShop(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	static void createTables(JdbcTemplate jdbc) {
		jdbc.execute("CREATE TABLE stock (quantity integer NOT NULL)");
		jdbc.update("INSERT INTO stock VALUES (100)");
	}

	int quantity() {
		return this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
	}

	@DistributedLock(key = "'stock'")
	@Transactional
	public void take(Runnable whileRead) {
		sell(whileRead);
	}

	void sell(Runnable whileRead) {
		int quantity = quantity();
		whileRead.run();
		this.jdbc.update("UPDATE stock SET quantity = ?", quantity - 1);
	}

}
