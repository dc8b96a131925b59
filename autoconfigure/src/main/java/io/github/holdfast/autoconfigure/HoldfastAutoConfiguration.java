package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.check.LockedBeanCheck;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.interceptor.ClaimPostProcessor;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.interceptor.LockOperationSource;
import io.github.holdfast.observation.LeakDetection;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.RowClaims;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for {@link DistributedLock @DistributedLock} and
 * {@link LockTemplate}.
 */
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
		"org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
		"org.springframework.boot.transaction.jta.autoconfigure.JtaAutoConfiguration",
		"org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.redisson.spring.starter.RedissonAutoConfigurationV4",
		"org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration" })
@EnableConfigurationProperties(HoldfastProperties.class)
@ImportRuntimeHints(LockRuntimeHints.class)
public final class HoldfastAutoConfiguration {

	static final String TEMPLATE = "holdfastLockTemplate";

	private static final Logger logger = LoggerFactory.getLogger(HoldfastAutoConfiguration.class);

	@Bean(TEMPLATE)
	@ConditionalOnMissingBean
	LockTemplate holdfastLockTemplate(LockManager manager) {
		return new LockTemplate(manager);
	}

	private static LockSettings settings(HoldfastProperties properties) {
		return LockSettings.DEFAULT.withKeyPrefix(properties.keyPrefix())
			.withTimes(new LockSettings.Times(properties.waitTime(), properties.leaseTime(), null, null));
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", havingValue = false)
	static class DisabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockManager holdfastLockManager(HoldfastProperties properties) {
			logger.warn("Locks are disabled by 'holdfast.enabled': locked methods run without a lock");
			return new LockManager(() -> {
				throw new IllegalStateException("Locks are disabled by 'holdfast.enabled'");
			}, () -> LockGuard.NONE, List::of, (name) -> new LockSettings.Overrides(false, LockSettings.Times.NONE),
					settings(properties), Duration.ZERO);
		}

	}

	/**
	 * The beans here that other beans need while they are created take providers, and
	 * never the store itself.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
	@Import({ AutoProxyRegistrar.class, LockTableConfiguration.class, LockTransactionConfiguration.class,
			LockBackendConfigurations.class })
	static class EnabledConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockOperationSource lockOperationSource(ObjectProvider<LockManager> manager,
				ObjectProvider<HoldfastProperties> properties, ObjectProvider<TransactionInterceptor> transactions,
				ConfigurableListableBeanFactory beanFactory) {
			return new LockOperationSource(manager::getObject, () -> settings(properties.getObject()),
					transactions::getIfUnique, beanFactory);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor distributedLockAdvisor(LockOperationSource source, Environment environment) {
			return new DistributedLockAdvisor(source,
					environment.getProperty("holdfast.order", Integer.class, DistributedLockAdvisor.DEFAULT_ORDER));
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static ClaimPostProcessor lockClaimPostProcessor(LockOperationSource source) {
			return new ClaimPostProcessor(source);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockedBeanCheck lockedBeanCheck(LockOperationSource source,
				ObjectProvider<HoldfastProperties> properties, ObjectProvider<LockManager> manager,
				ObjectProvider<RowClaims> claims, ObjectProvider<LockBackend> backend) {
			return new LockedBeanCheck(source, (failure) -> properties.getObject().startupChecks().report(failure),
					(settings) -> {
						if (settings.mode() == LockMode.OPTIMISTIC && (claims.getIfAvailable() == null
								|| !backend.getObject().name().equals(LockBackendType.JDBC.toString()))) {
							throw new UnsupportedOperationException(
									"mode OPTIMISTIC needs 'holdfast.backend: jdbc' and 'holdfast.commit-guard: fence'");
						}
						manager.getObject().checkSupported(settings);
					});
		}

		@Bean
		@ConditionalOnMissingBean
		LockBackend lockBackend(ObjectProvider<Candidate> candidates, HoldfastProperties properties) {
			return Candidate.choose(candidates.stream().toList(), properties.backend()).backend().get();
		}

		@Bean
		LockOverrides lockOverrides(HoldfastProperties properties) {
			return new LockOverrides(properties.locks());
		}

		@Bean
		@ConditionalOnMissingBean
		LockManager holdfastLockManager(ObjectProvider<LockBackend> backend, ObjectProvider<LockGuard> guard,
				ObjectProvider<LockListener> listeners, LockOverrides overrides, HoldfastProperties properties) {
			return new LockManager(backend::getObject, () -> guard.getIfAvailable(() -> LockGuard.NONE),
					() -> listeners.orderedStream().toList(), overrides, settings(properties),
					properties.handoverLimit());
		}

		@Bean
		LockStartup lockStartup(LockBackend backend, ObjectProvider<LockGuard> guard, ObjectProvider<RowClaims> claims,
				HoldfastProperties properties, LockedBeanCheck locked, ObjectProvider<LockStartupCheck> checks,
				ConfigurableListableBeanFactory beanFactory) {
			CommitGuardLevel level = (claims.getIfAvailable() != null) ? CommitGuardLevel.FENCE
					: CommitGuardLevel.LEASE;
			if (properties.commitGuard() == CommitGuardLevel.FENCE && level != CommitGuardLevel.FENCE) {
				throw new LockConfigurationException(
						"'holdfast.commit-guard' is 'fence', but there is no DataSource bean.",
						"Add 'spring-boot-starter-jdbc' or another starter with a DataSource, or set "
								+ "'holdfast.commit-guard' to 'lease'.");
			}
			return new LockStartup(backend, guard.getIfAvailable(() -> LockGuard.NONE), level, properties, locked,
					checks, beanFactory);
		}

		@Bean
		LockShutdown lockShutdown(ApplicationContext context, LockManager manager) {
			return new LockShutdown(context, manager);
		}

		@Bean
		@ConditionalOnProperty("holdfast.leak-detection-threshold")
		LeakDetection lockLeakDetection(HoldfastProperties properties) {
			return new LeakDetection(Objects.requireNonNull(properties.leakDetectionThreshold()));
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
		@ConditionalOnClass(DispatcherServlet.class)
		@ConditionalOnBooleanProperty("holdfast.problemdetails.enabled")
		@Import(LockProblems.class)
		static class ProblemDetailsConfiguration {

		}

	}

	static class AutoProxyRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

}
