package io.github.holdfast.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

/**
 * Configuration properties for locks in a SQL database.
 *
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.jdbc")
public class JdbcLockProperties extends DatabaseInitializationProperties {

	static final String SCRIPT = "classpath:io/github/holdfast/jdbc/schema-@@platform@@.sql";

	/**
	 * Create properties with their defaults. A script that fails must not pass unnoticed.
	 */
	@SuppressWarnings("this-escape")
	public JdbcLockProperties() {
		setContinueOnError(false);
	}

	@Override
	public String getDefaultSchemaLocation() {
		return SCRIPT;
	}

}
