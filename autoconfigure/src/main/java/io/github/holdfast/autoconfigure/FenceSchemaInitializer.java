package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;

/**
 * Creates the fence table if {@code holdfast.fence.initialize-schema} says so.
 *
 * @since 0.2.0
 */
public class FenceSchemaInitializer extends PropertiesBasedDataSourceScriptDatabaseInitializer<LockProperties.Fence> {

	/**
	 * Create an initializer.
	 * @param dataSource the database
	 * @param properties when to create the table, and by which script
	 */
	public FenceSchemaInitializer(DataSource dataSource, LockProperties.Fence properties) {
		super(dataSource, properties);
	}

	@Override
	public boolean initializeDatabase() {
		return TableCheck.Table.initialize(super::initializeDatabase, getDataSource(), TableCheck.Table.FENCE);
	}

}
