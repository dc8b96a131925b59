package io.github.holdfast.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.LockBackend;
import io.github.holdfast.observation.LockMeters;
import io.github.holdfast.observation.LockObservationConvention;
import io.github.holdfast.observation.LockSpans;
import io.github.holdfast.observation.LockWarnings;
import io.github.holdfast.transaction.ActiveTransactionRule;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for what is to be seen of locks: meters, spans, and what the log
 * tells.
 *
 * @since 0.2.0
 */
@AutoConfiguration(afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@EnableConfigurationProperties({ LockProperties.class, LockProperties.WarnAfter.class })
public final class LockObservationAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockWarnings holdfastLockWarnings(LockProperties.WarnAfter times, ObjectProvider<LockBackend> backend,
			ObjectProvider<NamedBackends> named) {
		return new LockWarnings(times.waited(), times.held(), (name, key) -> {
			NamedBackends others = named.getIfAvailable();
			LockBackend other = (others != null) ? others.ofLock(name) : null;
			LockBackend store = (other != null) ? other : backend.getIfUnique();
			return (store != null) ? store.holder(key) : null;
		});
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	static class MetersConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockMeters holdfastLockMeters(MeterRegistry registry) {
			return new LockMeters(registry);
		}

		@Bean
		SmartInitializingSingleton holdfastReportedCalls(MeterRegistry registry,
				ObjectProvider<ActiveTransactionRule> rule) {
			return () -> rule.ifUnique((unique) -> unique.setCounter((lock, transaction) -> registry
				.counter("holdfast.locks.reported", "lock.name", lock, "transaction", transaction)
				.increment()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	@Conditional(LockSpanCondition.class)
	static class SpansConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockSpans holdfastLockSpans(ObservationRegistry registry,
				ObjectProvider<LockObservationConvention> convention) {
			return new LockSpans(registry, convention::getIfAvailable);
		}

	}

}
