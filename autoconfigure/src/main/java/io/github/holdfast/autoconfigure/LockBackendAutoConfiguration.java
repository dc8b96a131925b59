package io.github.holdfast.autoconfigure;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.ConfigurableEnvironment;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.check.LockNames;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the lock store and {@link LockTemplate}.
 *
 * @since 0.2.0
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
		"org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
		"org.springframework.boot.transaction.jta.autoconfigure.JtaAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.redisson.spring.starter.RedissonAutoConfigurationV4",
		"org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration" })
@EnableConfigurationProperties({ LockProperties.class, LockProperties.Handover.class })
@ImportRuntimeHints(LockRuntimeHints.class)
public final class LockBackendAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LockBackendAutoConfiguration.class);

	@Bean
	static LockPropertiesCheck lockPropertiesCheck(ConfigurableEnvironment environment) {
		return new LockPropertiesCheck(environment);
	}

	@Bean
	static ConfigurationPropertiesBindHandlerAdvisor lockGroups() {
		return LockGroups::new;
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
	@Import(NamedFenceConfiguration.class)
	static class EnabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockTemplate holdfastLockTemplate(ObjectProvider<LockBackend> backend, ObjectProvider<LockListener> listeners,
				LockProperties properties, LockOverrides overrides, NamedBackends named) {
			return new LockTemplate(backend::getObject, named::ofLock, () -> listeners.orderedStream().toList())
				.withKeyPrefix(properties.getKeyPrefix())
				.withWaitTime(properties.getWaitTime())
				.withLeaseTime(properties.getLeaseTime())
				.withOverrides(overrides);
		}

		@Bean
		NamedBackends namedLockBackends(LockProperties properties, LockProperties.Handover handover,
				ConfigurableListableBeanFactory beanFactory, ObjectProvider<FenceTables> fences) {
			return new NamedBackends(properties, handover, beanFactory, fences);
		}

		@Bean
		LockOverrides lockOverrides(LockProperties properties) {
			return new LockOverrides(properties.getLocks());
		}

		@Bean
		LockOverridesCheck lockOverridesCheck(LockOverrides overrides, ObjectProvider<LockTemplate> template,
				ObjectProvider<LockNames> annotated) {
			return new LockOverridesCheck(overrides, template, annotated);
		}

		@Bean
		StoreChecks storeChecks(ObjectProvider<StoreCheck> checks, ObjectProvider<LockNames> annotated,
				ConfigurableListableBeanFactory beanFactory) {
			return new StoreChecks(checks, annotated, beanFactory);
		}

		@Bean
		static LockShutdown lockShutdown(ApplicationContext context) {
			return new LockShutdown(context);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnMissingBean(LockBackend.class)
		@Import({ LockStores.class, FenceConfiguration.class })
		static class ChosenBackendConfiguration {

			@Bean
			LockBackend lockBackend(ObjectProvider<LockBackendCandidate> candidates, LockProperties properties,
					LockProperties.Handover handover, ObjectProvider<FenceTable> fenceTable,
					ObjectProvider<Fence> fence, ListableBeanFactory beans) {
				LockBackendCandidate chosen = LockBackendCandidate.onlyOne(candidates.orderedStream().toList(),
						properties.getBackend());
				if (properties.getCommitGuard() == CommitGuardLevel.FENCE && fence.getIfAvailable() == null) {
					throw FenceConfiguration.noFence();
				}
				if (fence.getIfAvailable() == null && chosen.type() != LockBackendType.LOCAL) {
					FenceConfiguration.checkUnfenced("the backend '" + chosen.type().propertyValue() + "'", properties,
							beans);
				}
				CommitGuardLevel level = properties.effectiveCommitGuard(fence.getIfAvailable() != null);
				logger.info("Locks are kept by the backend '{}' {}", chosen.type().propertyValue(),
						new BackendSummary(properties, handover, level).text());
				return LockBackendCandidate.complete(chosen.open(fenceTable.getIfAvailable()), fence.getIfAvailable(),
						handover, properties);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", havingValue = false)
	static class DisabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockTemplate holdfastLockTemplate(LockProperties properties) {
			if (properties.isEnabled()) {
				throw new LockConfigurationException(
						"The application was processed ahead of time with 'holdfast.enabled' set to 'false'.",
						"Build it with the value that it is started with.");
			}
			logger.warn("Locks are switched off by 'holdfast.enabled': locked methods run without a lock");
			return LockTemplate.unlocked();
		}

	}

}
