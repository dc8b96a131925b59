package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.store.session.JdbcSessionLockBackend;
import io.github.holdfast.store.session.SessionDataSource;
import io.github.holdfast.store.session.SessionFence;

/**
 * Locks in the sessions of the application's database.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "holdfast.jdbc.mode", havingValue = "session")
class JdbcSessionConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SessionDataSourcePostProcessor sessionDataSourcePostProcessor() {
		return new SessionDataSourcePostProcessor();
	}

	@Bean
	LockBackendCandidate jdbcSessionLockBackend(LockDataSource dataSource, LockProperties.Jdbc jdbc,
			ObjectProvider<PoolSize> poolSize) {
		return new LockBackendCandidate(LockBackendType.JDBC, () -> new JdbcSessionLockBackend(dataSource,
				() -> jdbc.maxSessions(poolSize(poolSize, dataSource.get()))));
	}

	@Bean
	@ConditionalOnMissingBean(Fence.class)
	SessionFence lockFence(LockDataSource dataSource) {
		return new SessionFence(dataSource);
	}

	@Bean
	JdbcSessionCheck jdbcSessionCheck(LockDataSource dataSource, LockProperties properties, LockProperties.Jdbc jdbc,
			ObjectProvider<PoolSize> poolSize) {
		return new JdbcSessionCheck(dataSource, properties, jdbc, (pool) -> poolSize(poolSize, pool));
	}

	private static @Nullable Integer poolSize(ObjectProvider<PoolSize> poolSize, DataSource pool) {
		PoolSize size = poolSize.getIfAvailable();
		return (size != null) ? size.of(pool) : null;
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataSourcePoolMetadataProvider.class)
	static class PoolSizeConfiguration {

		@Bean
		PoolSize lockPoolSize(ObjectProvider<DataSourcePoolMetadataProvider> providers) {
			return (dataSource) -> {
				DataSourcePoolMetadata metadata = new CompositeDataSourcePoolMetadataProvider(
						providers.orderedStream().toList())
					.getDataSourcePoolMetadata(dataSource);
				return (metadata != null) ? metadata.getMax() : null;
			};
		}

	}

	/**
	 * Tells how many connections a pool has at most.
	 */
	@FunctionalInterface
	interface PoolSize {

		@Nullable Integer of(DataSource dataSource);

	}

	/**
	 * Lets the connections of all pools hold locks; those of other pools than that of the
	 * locks never do.
	 */
	static class SessionDataSourcePostProcessor implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource dataSource) ? SessionDataSource.around(dataSource) : bean;
		}

	}

}
