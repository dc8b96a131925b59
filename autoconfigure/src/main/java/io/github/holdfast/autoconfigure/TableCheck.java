package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.util.StringUtils;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.sql.SqlDialect;

/**
 * Fails the start when a table is not there, not to be written, or its rows cannot be
 * locked, after all migrations have run.
 */
final class TableCheck implements StoreCheck {

	private final Table table;

	private final Platform platform;

	private final Access read;

	private final Access write;

	private final Rows rows;

	/**
	 * Create a check.
	 * @param table what has to be there
	 * @param platform asks the database what it is
	 * @param read fails if the table or one of its columns is missing
	 * @param write fails if the table may not be written
	 * @param rows fails if its rows cannot be locked
	 */
	TableCheck(Table table, Platform platform, Access read, Access write, Rows rows) {
		this.table = table;
		this.platform = platform;
		this.read = read;
		this.write = write;
		this.rows = rows;
	}

	@Override
	public void check() {
		try {
			String platform = this.platform.dialect().name().toLowerCase(Locale.ROOT);
			checkTable(this.table.script.replace("@@platform@@", platform));
		}
		catch (SQLException ex) {
			throw this.table.unreachable(ex);
		}
	}

	private void checkTable(String script) {
		try {
			this.read.run();
		}
		catch (SQLException ex) {
			throw new LockConfigurationException(
					"The table '" + this.table.table + "' cannot be read: " + Table.reason(ex) + ".",
					"Add the script " + script + " to your migrations (Flyway, Liquibase), or set '"
							+ this.table.properties + ".initialize-schema' to 'always'. " + this.table.otherwise
							+ "A table that is there already must have the columns of the script, and the user of "
							+ "the DataSource must have the privileges SELECT, INSERT and UPDATE on it. "
							+ "The script:\n\n" + text(script.substring("classpath:".length())),
					ex);
		}
		try {
			this.write.run();
		}
		catch (SQLException ex) {
			throw new LockConfigurationException(
					"The table '" + this.table.table + "' cannot be written: " + Table.reason(ex) + ".",
					"Grant SELECT, INSERT and UPDATE on it to the user of the DataSource, "
							+ "and use a database and a pool that are not read-only.",
					ex);
		}
		try {
			this.rows.lock(this.table.table);
		}
		catch (SQLException ex) {
			throw new LockConfigurationException(
					"The rows of the table '" + this.table.table + "' cannot be locked: " + Table.reason(ex) + ".",
					"Use a database that docs/jdbc.md lists. 'holdfast.database.check-row-locks: false' and "
							+ "'holdfast.database.single-writer: true' start the application without these checks.",
					ex);
		}
	}

	private static String text(String script) {
		try {
			return new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The tables that may have to be there. Each needs a script, with a place for the
	 * platform, and has properties about it.
	 */
	enum Table {

		LOCK("holdfast_lock", "lock backend 'jdbc'", LockProperties.Jdbc.SCRIPT, "holdfast.jdbc", ""),

		RENEWAL("holdfast_renewal", LOCK.user, LOCK.script, LOCK.properties, LOCK.otherwise),

		FENCE("holdfast_fence", "fence", LockProperties.Fence.SCRIPT, "holdfast.fence",
				"Or do without the fence by 'holdfast.commit-guard: lease': then a holder that has lost its lock "
						+ "without knowing, as its process was paused or the store forgot the lock, can still commit. ");

		private final String table;

		private final String user;

		private final String script;

		private final String properties;

		private final String otherwise;

		Table(String table, String user, String script, String properties, String otherwise) {
			this.table = table;
			this.user = user;
			this.script = script;
			this.properties = properties;
			this.otherwise = otherwise;
		}

		/**
		 * Create the bean that runs the script, which asks the database for its platform.
		 */
		<T> T initializer(Supplier<T> initializer) {
			try {
				return initializer.get();
			}
			catch (IllegalStateException ex) {
				throw (ex.getCause() instanceof MetaDataAccessException) ? unreachable(ex) : ex;
			}
		}

		/**
		 * Run the script that creates some tables, in this order. Its failure does not
		 * matter if a table is there, which another node may have created at the same
		 * time; then the script has the next one still to create.
		 */
		static boolean initialize(BooleanSupplier script, DataSource dataSource, Table... tables) {
			for (Table table : tables) {
				try {
					return script.getAsBoolean();
				}
				catch (ScriptException ex) {
					if (!table.exists(dataSource)) {
						throw table.notCreated(ex);
					}
				}
			}
			return false;
		}

		private LockConfigurationException notCreated(ScriptException ex) {
			return new LockConfigurationException(
					"The script that creates the table '" + this.table + "' failed: " + reason(ex) + ".",
					"Let a user who may create tables run it, for example in your migrations (Flyway, Liquibase), "
							+ "and set '" + this.properties + ".initialize-schema' to 'never'.",
					ex);
		}

		private boolean exists(DataSource dataSource) {
			try {
				new JdbcTemplate(dataSource).queryForList("SELECT 1 FROM " + this.table + " WHERE 1 = 0");
				return true;
			}
			catch (DataAccessException ex) {
				return false;
			}
		}

		private LockConfigurationException unreachable(Exception ex) {
			return new LockConfigurationException(
					"The database of the " + this.user + " could not be reached: " + reason(ex) + ".",
					"Check 'spring.datasource.url' and the credentials, and that the database is running.", ex);
		}

		/**
		 * What the driver says: pools tell less, and sockets do not name the server.
		 */
		private static String reason(Exception ex) {
			String reason = String.valueOf(ex.getMessage());
			for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
				if (cause instanceof SQLException) {
					reason = String.valueOf(cause.getMessage());
				}
			}
			return StringUtils.trimTrailingCharacter(reason, '.');
		}

	}

	/**
	 * Asks a database for its dialect.
	 */
	@FunctionalInterface
	interface Platform {

		SqlDialect dialect() throws SQLException;

	}

	/**
	 * Tries out whether the rows of a table can be locked.
	 */
	@FunctionalInterface
	interface Rows {

		void lock(String table) throws SQLException;

	}

	/**
	 * Tries what is needed on a table, on no rows.
	 */
	@FunctionalInterface
	interface Access {

		void run() throws SQLException;

	}

}
