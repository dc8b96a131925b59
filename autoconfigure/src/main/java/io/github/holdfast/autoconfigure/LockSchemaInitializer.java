package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.autoconfigure.HoldfastProperties.Jdbc.SchemaInitialization;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.NestedExceptionUtils;

/**
 * Creates the table {@code holdfast_lock}. A script that fails is not reported here,
 * because another node may have created the table at the same time. A database without a
 * script is not reported either. A startup check reads the table.
 */
final class LockSchemaInitializer extends DataSourceScriptDatabaseInitializer {

	static final String SCRIPT = "optional:classpath:io/github/holdfast/jdbc/schema-@@platform@@.sql";

	LockSchemaInitializer(DataSource dataSource, SchemaInitialization mode) {
		super(dataSource, settings(dataSource, mode));
	}

	private static DatabaseInitializationSettings settings(DataSource dataSource, SchemaInitialization mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(DatabaseInitializationMode.ALWAYS);
		settings.setContinueOnError(true);
		if (mode == SchemaInitialization.ALWAYS
				|| (mode == SchemaInitialization.EMBEDDED && EmbeddedDatabaseConnection.isEmbedded(dataSource))) {
			try {
				settings.setSchemaLocations(new PlatformPlaceholderDatabaseDriverResolver()
					.withDriverPlatform(DatabaseDriver.MARIADB, "mysql")
					.resolveAll(dataSource, SCRIPT));
			}
			catch (IllegalStateException ex) {
				String reason = NestedExceptionUtils.getMostSpecificCause(ex).getMessage();
				throw new LockConfigurationException("The database of the locks could not be reached: " + reason,
						"Check 'spring.datasource.url' and the credentials, and that the database is running.", ex);
			}
		}
		return settings;
	}

}
