package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

/**
 * Configuration properties for the fence table, by which commits are checked at the level
 * 'fence' when the locks are kept outside of the business database.
 *
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.fence")
public class FenceProperties extends DatabaseInitializationProperties {

	static final String SCRIPT = "classpath:io/github/holdfast/jdbc/fence-schema-@@platform@@.sql";

	/**
	 * Name of the store in the fence table, the same on all nodes: 1 to 40 characters of
	 * ASCII. By default, the name of the backend.
	 */
	private @Nullable String source;

	/**
	 * Create properties with their defaults. A script that fails must not pass unnoticed.
	 */
	@SuppressWarnings("this-escape")
	public FenceProperties() {
		setContinueOnError(false);
	}

	public @Nullable String getSource() {
		return this.source;
	}

	public void setSource(@Nullable String source) {
		this.source = source;
	}

	@Override
	public String getDefaultSchemaLocation() {
		return SCRIPT;
	}

}
