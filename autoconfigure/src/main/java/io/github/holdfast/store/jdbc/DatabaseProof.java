package io.github.holdfast.store.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockConfigurationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.io.ClassPathResource;

/**
 * Proves when the application starts that the table is there and that the database locks
 * its rows.
 */
public final class DatabaseProof {

	private static final Logger logger = LoggerFactory.getLogger(DatabaseProof.class);

	/** As long as a key can be. */
	private static final String KEY = "holdfast:start" + ".".repeat(241);

	private static final String READ = "SELECT lock_key, epoch, owner, holder, expires_at FROM holdfast_lock WHERE 1 = 0";

	private static final String WRITE = "UPDATE holdfast_lock SET epoch = epoch, owner = owner, holder = holder, "
			+ "expires_at = expires_at WHERE 1 = 0";

	private static final String VARIABLES = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', "
			+ "'group_replication_group_name', 'group_replication_single_primary_mode', 'idle_transaction_timeout')";

	private static final String IDLE = "A holder that hangs keeps its lock until the database ends its transaction, and "
			+ "'{}' is off. Set it on the server or in the URL of the DataSource";

	private final OwnConnections connections;

	private final IntSupplier poolSize;

	/**
	 * Create a proof.
	 * @param dataSource supplies the database
	 * @param poolSize the number of connections; the proof needs two
	 */
	public DatabaseProof(Supplier<DataSource> dataSource, IntSupplier poolSize) {
		this.connections = new OwnConnections(dataSource);
		this.poolSize = poolSize;
	}

	/**
	 * Run the proof.
	 * @throws LockConfigurationException if locks would not be safe
	 */
	public void run() {
		SqlDialect dialect = dialect();
		try {
			execute(READ);
		}
		catch (SQLException ex) {
			String script = "io/github/holdfast/jdbc/schema-" + dialect.name().toLowerCase(Locale.ROOT) + ".sql";
			throw new LockConfigurationException("The table 'holdfast_lock' cannot be read: " + ex.getMessage(),
					"Add the script classpath:" + script + " to your migrations (Flyway, Liquibase), or set "
							+ "'holdfast.jdbc.initialize-schema' to 'always'. The user of the DataSource needs SELECT, "
							+ "INSERT and UPDATE on the table. The script:\n\n" + text(script),
					ex);
		}
		try {
			execute(WRITE);
			checkWriters(dialect);
			checkRowLocks();
		}
		catch (SQLException ex) {
			throw new LockConfigurationException("The table 'holdfast_lock' cannot be written: " + ex.getMessage(),
					"Grant SELECT, INSERT and UPDATE on it to the user of the DataSource, and connect to a server and "
							+ "through a pool that are not read-only.",
					ex);
		}
	}

	private SqlDialect dialect() {
		try {
			return this.connections.call((connection, rows) -> rows.dialect());
		}
		catch (SQLException ex) {
			throw new LockConfigurationException("The database of the locks could not be reached: " + ex.getMessage(),
					"Check 'spring.datasource.url' and the credentials, and that the database is running.", ex);
		}
	}

	private void execute(String sql) throws SQLException {
		this.connections.call((connection, rows) -> {
			try (Statement statement = connection.createStatement()) {
				return statement.execute(sql);
			}
		});
	}

	private static String text(String script) {
		try {
			return new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void checkWriters(SqlDialect dialect) throws SQLException {
		switch (dialect) {
			case POSTGRESQL -> {
				if (ask("SHOW idle_in_transaction_session_timeout").containsKey("0")) {
					logger.info(IDLE, "idle_in_transaction_session_timeout");
				}
			}
			case MYSQL -> checkVariables(ask(VARIABLES));
			case H2 -> {
			}
		}
	}

	private static void checkVariables(Map<String, String> variables) {
		boolean group = !variables.getOrDefault("group_replication_group_name", "").isEmpty()
				&& "OFF".equals(variables.get("group_replication_single_primary_mode"));
		if (group || "ON".equals(variables.get("wsrep_on"))) {
			throw new LockConfigurationException(
					"The database of the locks is a cluster in which several servers accept writes. Each has its own "
							+ "row locks, so two holders of a lock could commit on two of them.",
					"Let all nodes of the application write to the same server, and set 'holdfast.startup-checks' to "
							+ "'warn'.");
		}
		if ("0".equals(variables.get("idle_transaction_timeout"))) {
			logger.info(IDLE, "idle_transaction_timeout");
		}
	}

	/**
	 * The first two columns of an answer.
	 */
	private Map<String, String> ask(String sql) throws SQLException {
		return this.connections.call((connection, rows) -> {
			Map<String, String> answer = new HashMap<>();
			try (Statement statement = connection.createStatement(); ResultSet rs = statement.executeQuery(sql)) {
				while (rs.next()) {
					answer.put(rs.getString(1), rs.getString(rs.getMetaData().getColumnCount()));
				}
			}
			return answer;
		});
	}

	/**
	 * Databases that only speak the protocol of another one may accept a locking clause
	 * and lock nothing.
	 */
	private void checkRowLocks() throws SQLException {
		if (this.poolSize.getAsInt() < 2) {
			logger.info("Row-lock check of the database skipped: it needs two connections, the pool has one");
			return;
		}
		this.connections.repeat(() -> this.connections
			.call((connection, rows) -> rows.insert(connection, KEY, false, LockWaits.SHORT)));
		boolean locked = this.connections.inTransaction((holder, rows) -> rows.lock(holder, KEY, LockWaits.SHORT)
				&& !this.connections.inTransaction((other, same) -> same.lockUnlocked(other, KEY, LockWaits.SHORT)));
		if (!locked) {
			throw new LockConfigurationException(
					"The database does not lock rows: two transactions got the row of a key with 255 bytes, or none did.",
					"Use PostgreSQL, MySQL, MariaDB or H2 with the table of the script, and connect to the server that "
							+ "accepts the writes, without a proxy that sends reads elsewhere.");
		}
	}

}
