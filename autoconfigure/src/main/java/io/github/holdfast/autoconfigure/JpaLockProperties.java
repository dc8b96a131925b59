package io.github.holdfast.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;

import io.github.holdfast.transaction.StaleContext;

/**
 * Configuration properties for locked methods that use JPA.
 *
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.jpa")
public class JpaLockProperties {

	/**
	 * Reaction to a locked call whose persistence context holds entities already, for
	 * example by open-in-view.
	 */
	private StaleContext staleContext = StaleContext.REJECT;

	public StaleContext getStaleContext() {
		return this.staleContext;
	}

	public void setStaleContext(StaleContext staleContext) {
		this.staleContext = staleContext;
	}

}
