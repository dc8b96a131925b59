package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;

/**
 * Creates the fence table if {@code holdfast.fence.initialize-schema} says so.
 *
 * @since 0.2.0
 */
public class FenceSchemaInitializer extends DataSourceScriptDatabaseInitializer {

	/**
	 * Create an initializer.
	 * @param dataSource the database
	 * @param properties when to create the table
	 */
	public FenceSchemaInitializer(DataSource dataSource, LockProperties.Fence properties) {
		super(dataSource, settings(dataSource, properties));
	}

	private static DatabaseInitializationSettings settings(DataSource dataSource, LockProperties.Fence properties) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(
				new PlatformPlaceholderDatabaseDriverResolver().resolveAll(dataSource, LockProperties.Fence.SCRIPT));
		settings.setMode(properties.getInitializeSchema());
		return settings;
	}

	@Override
	public boolean initializeDatabase() {
		return TableCheck.Table.initialize(super::initializeDatabase, getDataSource(), TableCheck.Table.FENCE);
	}

}
