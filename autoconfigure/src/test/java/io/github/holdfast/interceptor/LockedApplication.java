package io.github.holdfast.interceptor;

import java.time.Duration;
import java.util.UUID;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.transaction.interceptor.TransactionAspectSupport;

/**
 * Applications with locked methods, as small as they can be.
 */
final class LockedApplication {

	private LockedApplication() {
	}

	static ApplicationContextRunner local() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withUserConfiguration(Locks.class);
	}

	static ApplicationContextRunner jdbc() {
		return local()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
					"spring.datasource.hikari.minimum-idle=1");
	}

	@Configuration(proxyBeanMethods = false)
	static class Locks {

		@Bean
		static LockManager lockManager(ObjectProvider<LockBackend> backend, ObjectProvider<LockGuard> guard,
				ObjectProvider<LockListener> listeners, Environment environment) {
			LockBackend memory = new MemoryBackend();
			return new LockManager(() -> backend.getIfAvailable(() -> memory),
					() -> guard.getIfAvailable(() -> LockGuard.NONE), () -> listeners.orderedStream().toList(),
					(name) -> overrides(name, environment), Duration.ofMillis(25));
		}

		private static LockSettings.Overrides overrides(String name, Environment environment) {
			String prefix = "holdfast.locks[" + name + "].";
			return new LockSettings.Overrides(environment.getProperty(prefix + "enabled", Boolean.class, true),
					new LockSettings.Times(duration(prefix + "wait-time", environment), null, null,
							duration(prefix + "min-hold-time", environment)));
		}

		private static @Nullable Duration duration(String property, Environment environment) {
			String text = environment.getProperty(property);
			return (text != null) ? DurationStyle.detectAndParse(text) : null;
		}

		@Bean
		LockTemplate lockTemplate(LockManager manager) {
			return new LockTemplate(manager);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockOperationSource lockOperationSource(ObjectProvider<LockManager> manager, Environment environment,
				ObjectProvider<TransactionAspectSupport> transactions, ConfigurableListableBeanFactory beanFactory) {
			return new LockOperationSource(manager::getObject, () -> defaults(environment), transactions::getIfUnique,
					beanFactory);
		}

		private static LockSettings defaults(Environment environment) {
			return LockSettings.DEFAULT
				.withKeyPrefix(environment.getProperty("holdfast.key-prefix", LockSettings.DEFAULT.keyPrefix()))
				.withTimes(LockSettings.DEFAULT.times()
					.overriddenBy(new LockSettings.Times(duration("holdfast.wait-time", environment),
							duration("holdfast.lease-time", environment), null, null)));
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor distributedLockAdvisor(LockOperationSource source, Environment environment) {
			return new DistributedLockAdvisor(source,
					environment.getProperty("holdfast.order", Integer.class, DistributedLockAdvisor.DEFAULT_ORDER));
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static ClaimPostProcessor claimPostProcessor(LockOperationSource source) {
			return new ClaimPostProcessor(source);
		}

	}

}
