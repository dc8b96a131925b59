package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.holdfast.core.LockConfigurationException;

/**
 * Refuses the start on Spring Boot 3 and earlier, which have the classes that Holdfast
 * uses in other packages or not at all. It comes before any configuration is read, and
 * uses only what these versions have, too.
 */
class SpringBootVersionCheck implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		check(SpringBootVersion.getVersion());
	}

	static void check(@Nullable String version) {
		if (version != null && version.matches("[123]\\..*")) {
			throw new LockConfigurationException(
					"Holdfast needs Spring Boot 4, and this application runs on " + version + ".",
					"Move the application to Spring Boot 4.0 or later, or remove Holdfast.");
		}
	}

}
