package io.github.holdfast.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

import io.github.holdfast.LockBackend;
import io.github.holdfast.actuate.LockHealthIndicator;
import io.github.holdfast.fence.Fence;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the health of the lock store.
 *
 * @since 0.2.0
 */
@AutoConfiguration(after = LockBackendAutoConfiguration.class)
@ConditionalOnClass({ HealthContributor.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnEnabledHealthIndicator("holdfast")
@ConditionalOnBean(LockBackend.class)
public final class LockHealthContributorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = { "holdfastHealthIndicator", "holdfastHealthContributor" })
	HealthContributor holdfastHealthContributor(LockBackend backend, NamedBackends named, LockProperties properties,
			ObjectProvider<Fence> fence) {
		String key = properties.getKeyPrefix() + "holdfast:health";
		LockHealthIndicator usual = new LockHealthIndicator(backend, key,
				() -> properties.effectiveCommitGuard(fence.getIfAvailable() != null));
		return named.isEmpty() ? usual : new LockHealthContributors(backend, usual, named, key);
	}

}
