package io.github.holdfast.documentation;

import io.github.holdfast.DistributedLock;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The first locked method. */
@Service
public class StockService {

	private final JdbcClient jdbc;

	StockService(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@DistributedLock("'stock:' + #sku")
	@Transactional
	public int deduct(String sku, int quantity) {
		int left = this.jdbc.sql("SELECT available FROM stock WHERE sku = ?").param(sku).query(Integer.class).single()
				- quantity;
		if (left < 0) {
			throw new IllegalStateException("Not enough stock of " + sku);
		}
		this.jdbc.sql("UPDATE stock SET available = ? WHERE sku = ?").params(left, sku).update();
		return left;
	}

}
