package io.github.holdfast.autoconfigure;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.LockBackend;
import io.github.holdfast.actuate.LockHealthIndicator;
import io.github.holdfast.fence.Fence;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the health of the lock store, and a gauge of it.
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

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterBinder.class)
	static class GaugeConfiguration {

		@Bean
		MeterBinder holdfastStoreUp(LockBackend backend,
				@Qualifier("holdfastHealthContributor") ObjectProvider<HealthContributor> health) {
			return (registry) -> health.ifAvailable((contributor) -> {
				if (contributor instanceof CompositeHealthContributor all) {
					all.stream().forEach((store) -> register(registry, store.name(), store.contributor()));
				}
				else {
					register(registry, backend.name(), contributor);
				}
			});
		}

		private static void register(MeterRegistry registry, String backend, HealthContributor health) {
			if (health instanceof LockHealthIndicator indicator) {
				Gauge.builder("holdfast.store.up", indicator, LockHealthIndicator::up)
					.description("Whether the store of the locks answers")
					.tag("backend", backend)
					.register(registry);
			}
		}

	}

}
