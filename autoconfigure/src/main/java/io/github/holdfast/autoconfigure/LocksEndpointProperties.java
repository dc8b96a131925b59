package io.github.holdfast.autoconfigure;

import java.util.HashSet;
import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Properties of the endpoint {@code locks}.
 *
 * @since 0.2.0
 */
@ConfigurationProperties("management.endpoint.locks")
public class LocksEndpointProperties {

	/**
	 * When to show the keys of locks. A digest is shown otherwise.
	 */
	private Show showValues = Show.NEVER;

	/**
	 * Roles used to determine whether a user is authorized to be shown keys. When empty,
	 * all authenticated users are authorized.
	 */
	private final Set<String> roles = new HashSet<>();

	public Show getShowValues() {
		return this.showValues;
	}

	public void setShowValues(Show showValues) {
		this.showValues = showValues;
	}

	public Set<String> getRoles() {
		return this.roles;
	}

}
