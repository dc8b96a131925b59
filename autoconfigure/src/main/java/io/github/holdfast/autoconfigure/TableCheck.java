package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Locale;
import java.util.function.Supplier;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.util.StringUtils;

import io.github.holdfast.support.LockConfigurationException;
import io.github.holdfast.support.SqlDialect;

/**
 * Fails the start when a table is not there after all migrations have run.
 */
abstract class TableCheck implements SmartInitializingSingleton {

	private final Table table;

	TableCheck(Table table) {
		this.table = table;
	}

	abstract SqlDialect dialect() throws SQLException;

	abstract void checkTable() throws SQLException;

	@Override
	public void afterSingletonsInstantiated() {
		try {
			String platform = dialect().name().toLowerCase(Locale.ROOT);
			checkTable(this.table.script().replace("@@platform@@", platform));
		}
		catch (SQLException ex) {
			throw this.table.unreachable(ex);
		}
	}

	private void checkTable(String script) {
		try {
			checkTable();
		}
		catch (SQLException ex) {
			throw new LockConfigurationException(
					"The table '" + this.table.name() + "' cannot be read: " + ex.getMessage() + ".",
					"Add the script " + script + " to your migrations (Flyway, Liquibase), or set '"
							+ this.table.properties() + ".initialize-schema' to 'always'. The script:\n\n"
							+ text(script.substring("classpath:".length())),
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
	 * A table that has to be there.
	 *
	 * @param name the name of the table
	 * @param user what needs it
	 * @param script the script that creates it, with a place for the platform
	 * @param properties the prefix of the properties about it
	 */
	record Table(String name, String user, String script, String properties) {

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

}
