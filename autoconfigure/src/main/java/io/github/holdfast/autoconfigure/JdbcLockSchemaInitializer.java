package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;

/**
 * Creates the lock table if {@code holdfast.jdbc.initialize-schema} says so.
 *
 * @since 0.2.0
 */
public class JdbcLockSchemaInitializer extends PropertiesBasedDataSourceScriptDatabaseInitializer<LockProperties.Jdbc> {

	/**
	 * Create an initializer.
	 * @param dataSource the database
	 * @param properties when to create the table, and by which script
	 */
	public JdbcLockSchemaInitializer(DataSource dataSource, LockProperties.Jdbc properties) {
		super(dataSource, properties);
	}

	@Override
	public boolean initializeDatabase() {
		return TableCheck.Table.initialize(super::initializeDatabase, getDataSource(), TableCheck.Table.LOCK,
				TableCheck.Table.RENEWAL);
	}

}
