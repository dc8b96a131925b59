package io.github.holdfast.benchmarks.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.Assert;

import io.github.holdfast.sql.SqlDialect;

/**
 * The statements that a transaction lock of Holdfast sends, and nothing else of it: one
 * that locks the row, and on databases that may have rolled it back meanwhile one that
 * asks for it before the commit.
 */
public final class HoldfastRows {

	private static final String OWNER = "7b6d4a0a-53b1-4a4e-9d54-0f6c3a1f2b77";

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private final JdbcTemplate jdbc;

	private final SqlDialect dialect;

	private final String lock;

	private final String ask;

	private HoldfastRows(JdbcTemplate jdbc, SqlDialect dialect) {
		this.jdbc = jdbc;
		this.dialect = dialect;
		String lock = dialect.updateAwaitingLocked("holdfast_lock", "lock_key",
				"epoch = " + dialect.answered("greatest(epoch + 1, {now})") + ", holder = " + dialect.holder()
						+ ", acquired_at = {now}, expires_at = {now} + ?",
				"lock_key = ? AND owner IS NULL AND epoch < ?");
		String limited = dialect.waitingForASecond(lock);
		this.lock = ((limited != null) ? limited : lock).replace("{now}", dialect.now());
		this.ask = dialect.lookingAtNow("SELECT 1 FROM holdfast_lock WHERE epoch = ? " + "AND coalesce("
				+ dialect.comparable("owner") + ", left(" + dialect.comparable("holder") + ", 36)) = ? AND lock_key = ?"
				+ dialect.shareLockOfUnlocked());
	}

	/**
	 * Create the table.
	 * @param jdbc the database
	 * @return its rows
	 */
	public static HoldfastRows create(JdbcTemplate jdbc) {
		SqlDialect dialect = jdbc.execute((ConnectionCallback<SqlDialect>) SqlDialect::of);
		new ResourceDatabasePopulator(new ClassPathResource(
				"io/github/holdfast/jdbc/schema-" + dialect.name().toLowerCase(Locale.ROOT) + ".sql"))
			.execute(jdbc.getDataSource());
		return new HoldfastRows(jdbc, dialect);
	}

	/**
	 * Insert a row that is free.
	 * @param key its key
	 */
	public void insert(String key) {
		this.jdbc.update("INSERT INTO holdfast_lock (lock_key, epoch, acquired_at, expires_at) VALUES (?, 1, 1, 1)",
				(statement) -> this.dialect.setKey(statement, 1, key));
	}

	/**
	 * Lock a row.
	 * @param key its key
	 * @return its epoch
	 */
	public long lock(String key) {
		return this.jdbc.execute((ConnectionCallback<Long>) (connection) -> lock(connection, key));
	}

	private long lock(Connection connection, String key) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.lock, new String[] { "epoch" })) {
			int index = this.dialect.setMarking(statement, 1,
					OWNER + " 12345@host " + Thread.currentThread().getName());
			if (this.dialect.limitsIdleTransactions()) {
				statement.setString(index++, SqlDialect.idleMillis(LEASE_TIME));
			}
			statement.setLong(index++, LEASE_TIME.toNanos() / 1000);
			this.dialect.setKey(statement, index++, key);
			statement.setLong(index, Long.MAX_VALUE);
			Assert.state(statement.executeUpdate() == 1, "The row is not free");
			try (ResultSet epoch = statement.getGeneratedKeys()) {
				epoch.next();
				return epoch.getLong(1);
			}
		}
	}

	/**
	 * Ask before the commit whether the row is still locked. PostgreSQL commits nothing
	 * if it is not.
	 * @param key the key of the row
	 * @param epoch its epoch
	 */
	public void ask(String key, long epoch) {
		if (this.dialect != SqlDialect.POSTGRESQL) {
			Assert.state(
					this.jdbc.execute((ConnectionCallback<Boolean>) (connection) -> isLocked(connection, key, epoch)),
					"The row was lost");
		}
	}

	private boolean isLocked(Connection connection, String key, long epoch) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.ask)) {
			statement.setQueryTimeout(10);
			statement.setLong(1, epoch);
			statement.setString(2, OWNER);
			this.dialect.setKey(statement, 3, key);
			try (ResultSet row = statement.executeQuery()) {
				return row.next();
			}
		}
	}

}
