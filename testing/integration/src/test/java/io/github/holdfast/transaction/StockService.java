package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/** Reads stock, computes, and writes the result: without a lock, updates get lost. */
class StockService {

	private final JdbcTemplate jdbc;

	StockService(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		jdbc.execute("CREATE TABLE IF NOT EXISTS stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
		jdbc.update("DELETE FROM stock");
		jdbc.update("INSERT INTO stock VALUES ('A', 100), ('B', 100)");
	}

	int quantity(String sku) {
		return this.jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = ?", Integer.class, sku);
	}

	void write(String sku, int quantity) {
		this.jdbc.update("UPDATE stock SET quantity = ? WHERE sku = ?", quantity, sku);
	}

	/** Writes in the running transaction, however late it is. */
	void writeWithoutTimeout(String sku, int quantity) {
		DataSource dataSource = Objects.requireNonNull(this.jdbc.getDataSource());
		try (Statement statement = DataSourceUtils.getConnection(dataSource).createStatement()) {
			statement.execute("UPDATE stock SET quantity = " + quantity + " WHERE sku = '" + sku + "'");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@DistributedLock(key = "'stock:' + #sku", name = "take")
	@Transactional
	public void take(String sku, Runnable whileHeld) {
		takeOne(sku, whileHeld);
	}

	private void takeOne(String sku, Runnable whileHeld) {
		int quantity = quantity(sku);
		whileHeld.run();
		write(sku, quantity - 1);
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional(noRollbackFor = RuntimeException.class)
	public void takeAndNeverRollBack(String sku, Runnable whileHeld) {
		takeOne(sku, whileHeld);
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	public void takeInNewTransaction(String sku, Runnable whileHeld) {
		takeOne(sku, whileHeld);
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional(readOnly = true, isolation = Isolation.READ_COMMITTED)
	public int read(String sku, Runnable whileHeld) {
		int quantity = quantity(sku);
		whileHeld.run();
		return quantity;
	}

	@DistributedLock(key = "'stock:' + #sku")
	public void withoutTransaction(String sku, Runnable whileHeld) {
		whileHeld.run();
	}

}
