package io.github.holdfast.benchmarks;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.Assert;

/**
 * The statements that a transaction lock of Holdfast sends, and nothing else of it: one
 * that locks the row, and on databases that may have rolled it back meanwhile one that
 * asks for it before the commit.
 */
record HoldfastRows(JdbcTemplate jdbc, boolean postgres) {

	public static HoldfastRows create(JdbcTemplate jdbc) {
		String product = jdbc
			.execute((ConnectionCallback<String>) (connection) -> connection.getMetaData().getDatabaseProductName());
		boolean postgres = "PostgreSQL".equals(product);
		new ResourceDatabasePopulator(
				new ClassPathResource("io/github/holdfast/jdbc/schema-" + (postgres ? "postgresql" : "mysql") + ".sql"))
			.execute(jdbc.getDataSource());
		return new HoldfastRows(jdbc, postgres);
	}

	private Object id(String key) {
		return this.postgres ? key : key.getBytes(StandardCharsets.UTF_8);
	}

	public void insert(String key) {
		this.jdbc.update("INSERT INTO holdfast_lock (lock_key, epoch, expires_at) VALUES (?, 1, 0)", id(key));
	}

	public long lock(String key) {
		long owner = ThreadLocalRandom.current().nextLong();
		Assert.state(this.jdbc.update(
				"UPDATE holdfast_lock SET epoch = epoch + 1, owner = ? WHERE lock_key = ? AND expires_at = 0", owner,
				id(key)) == 1, "The row is not free");
		return owner;
	}

	/** Asks before the commit whether the row is still locked. */
	public void ask(String key, long owner) {
		Assert.state(
				this.postgres || !this.jdbc
					.queryForList("SELECT 1 FROM holdfast_lock WHERE lock_key = ? AND owner = ? FOR UPDATE SKIP LOCKED",
							Integer.class, id(key), owner)
					.isEmpty(),
				"The row was lost");
	}

}
