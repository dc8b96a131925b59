package io.github.holdfast.sample.wms.operate;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/**
 * Spring Security is on the class path of all tests, and used by those of the profile
 * {@code secured}.
 */
final class SecurityOfTests implements AutoConfigurationImportFilter, EnvironmentAware {

	static final String PROFILE = "secured";

	private static final String PACKAGE = "org.springframework.boot.security.";

	private boolean used;

	@Override
	public void setEnvironment(Environment environment) {
		this.used = environment.acceptsProfiles(Profiles.of(PROFILE));
	}

	@Override
	public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[autoConfigurations.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurations[i];
			matches[i] = this.used || name == null || !name.startsWith(PACKAGE);
		}
		return matches;
	}

}
