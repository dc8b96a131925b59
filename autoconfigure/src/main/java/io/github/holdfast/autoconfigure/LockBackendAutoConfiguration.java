package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.handover.HandoverLockBackend;
import io.github.holdfast.support.LockConfigurationException;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the lock store and {@link LockTemplate}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@EnableConfigurationProperties(LockProperties.class)
public final class LockBackendAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LockBackendAutoConfiguration.class);

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
	static class EnabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockTemplate lockTemplate(ObjectProvider<LockBackend> backend, ObjectProvider<LockListener> listeners,
				LockProperties properties) {
			return new LockTemplate(backend::getObject, () -> listeners.orderedStream().toList())
				.withKeyPrefix(properties.getKeyPrefix())
				.withWaitTime(properties.getWaitTime())
				.withLeaseTime(properties.getLeaseTime());
		}

		@Bean
		LockShutdown lockShutdown(ObjectProvider<LockTemplate> template, ApplicationContext context) {
			return new LockShutdown(template::getObject, context);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnMissingBean(LockBackend.class)
		@Import({ LocalLockConfiguration.class, JdbcLockConfiguration.class })
		static class ChosenBackendConfiguration {

			@Bean
			LockBackend lockBackend(ObjectProvider<LockBackendCandidate> candidates, LockProperties properties) {
				LockBackendCandidate chosen = onlyOne(candidates.orderedStream().toList(), properties.getBackend());
				logger.info("Locks are kept by the backend '{}'", chosen.type().propertyValue());
				LockBackend backend = chosen.backend().get();
				return backend.capabilities().contains(LockBackend.Capability.IN_PROCESS) ? backend
						: new HandoverLockBackend(backend);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", havingValue = false)
	static class DisabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockTemplate lockTemplate() {
			logger.warn("Locks are switched off by 'holdfast.enabled': locked methods run without a lock");
			return LockTemplate.unlocked();
		}

	}

	private static LockBackendCandidate onlyOne(List<LockBackendCandidate> candidates,
			@Nullable LockBackendType wanted) {
		if (candidates.size() == 1) {
			return candidates.get(0);
		}
		Set<String> names = candidates.stream()
			.map((candidate) -> candidate.type().propertyValue())
			.collect(Collectors.toCollection(TreeSet::new));
		if (candidates.size() > 1) {
			throw new LockConfigurationException("Several lock backends are available: " + names + ".",
					"Set 'holdfast.backend' to one of them.");
		}
		if (wanted != null) {
			throw new LockConfigurationException(
					"The lock backend '" + wanted.propertyValue() + "' is asked for but not available.",
					"It needs " + wanted.requirement() + ".");
		}
		throw new LockConfigurationException("No lock backend is available.",
				"Add the client of a store, or set 'holdfast.backend' to 'local' if one JVM is all there is. "
						+ Arrays.stream(LockBackendType.values())
							.map((type) -> "'" + type.propertyValue() + "' needs " + type.requirement())
							.collect(Collectors.joining("; ", "", ".")));
	}

}
