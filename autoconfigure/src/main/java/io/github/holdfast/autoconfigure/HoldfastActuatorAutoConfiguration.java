package io.github.holdfast.autoconfigure;

import io.github.holdfast.LockBackend;
import io.github.holdfast.actuate.LockHealthIndicator;
import io.github.holdfast.actuate.LocksEndpoint;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.observation.LockObservations;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the observations, the endpoint and the health of locks.
 */
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@AutoConfiguration(after = HoldfastAutoConfiguration.class,
		afterName = { "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration" })
@ConditionalOnBean(LockStartup.class)
public final class HoldfastActuatorAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	static class ObservationConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockObservations lockObservations(ObservationRegistry registry) {
			return new LockObservations(registry);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthContributor.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("holdfast")
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = { "holdfastHealthIndicator", "holdfastHealthContributor" })
		LockHealthIndicator holdfastHealthIndicator(LockBackend backend, LockStartup startup) {
			return new LockHealthIndicator(backend, startup.commitGuard().name());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
	@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LocksEndpoint locksEndpoint(LockManager manager, LockBackend backend, HoldfastProperties properties,
				LockStartup startup) {
			return new LocksEndpoint(manager, backend, properties.keyPrefix(), startup::protections);
		}

	}

}
