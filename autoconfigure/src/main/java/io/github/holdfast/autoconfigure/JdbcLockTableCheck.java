package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Locale;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.StringUtils;

import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Fails the start when the lock table is not there after all migrations have run.
 */
class JdbcLockTableCheck implements SmartInitializingSingleton {

	private final JdbcLockBackend backend;

	JdbcLockTableCheck(JdbcLockBackend backend) {
		this.backend = backend;
	}

	@Override
	public void afterSingletonsInstantiated() {
		try {
			String platform = this.backend.dialect().name().toLowerCase(Locale.ROOT);
			checkTable("io/github/holdfast/jdbc/schema-" + platform + ".sql");
		}
		catch (SQLException ex) {
			throw unreachable(ex);
		}
	}

	static LockConfigurationException unreachable(Exception ex) {
		return new LockConfigurationException(
				"The database of the lock backend 'jdbc' could not be reached: " + reason(ex) + ".",
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

	private void checkTable(String script) {
		try {
			this.backend.checkTable();
		}
		catch (SQLException ex) {
			throw new LockConfigurationException("The table 'holdfast_lock' cannot be read: " + ex.getMessage() + ".",
					"Add the script classpath:" + script + " to your migrations (Flyway, Liquibase), "
							+ "or set 'holdfast.jdbc.initialize-schema' to 'always'. The script:\n\n" + text(script),
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

}
