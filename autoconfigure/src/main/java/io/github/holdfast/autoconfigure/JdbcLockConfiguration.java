package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DataSourceUtils;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockPurge;

/**
 * Locks in a table of the application's database.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceUtils.class,
		PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@ConditionalOnBean(DataSource.class)
@Conditional(LockBackendCondition.class)
@EnableConfigurationProperties({ LockProperties.Jdbc.class, LockProperties.Database.class })
@Import({ LockDataSource.class, DatabaseCheck.class })
class JdbcLockConfiguration {

	@Bean
	@DependsOnDatabaseInitialization
	TableCheck jdbcLockTableCheck(Locks locks, LockDataSource dataSource, DatabaseCheck database) {
		JdbcLockBackend backend = locks.backend();
		return new TableCheck(TableCheck.Table.LOCK, backend::dialect, backend::checkTable, backend::checkWritable,
				(table) -> database.check(table, JdbcLockBackend.fence(dataSource)));
	}

	@Bean
	@DependsOnDatabaseInitialization
	TableCheck jdbcRenewalTableCheck(LockDataSource dataSource) {
		JdbcLockBackend backend = new JdbcLockBackend(dataSource);
		return new TableCheck(TableCheck.Table.RENEWAL, backend::dialect, backend::checkRenewalTable,
				backend::checkRenewalWritable, (table) -> {
				});
	}

	@Bean
	@DependsOnDatabaseInitialization
	LockFormatCheck jdbcLockFormatCheck(LockDataSource dataSource, LockProperties properties) {
		return new LockFormatCheck(new JdbcLockBackend(dataSource), properties);
	}

	@Bean
	@ConditionalOnMissingBean
	@Conditional(OnLockSchemaCondition.class)
	JdbcLockSchemaInitializer jdbcLockSchemaInitializer(LockDataSource dataSource, LockProperties.Jdbc jdbc) {
		return TableCheck.Table.LOCK.initializer(() -> new JdbcLockSchemaInitializer(dataSource.get(), jdbc));
	}

	@Bean
	JdbcLockPurge jdbcLockPurge(LockDataSource dataSource, LockProperties.Jdbc jdbc, LockProperties properties) {
		jdbc.validatePurge(properties.getLeaseTime());
		return new JdbcLockPurge(dataSource, jdbc.getPurgeAfter());
	}

	@Bean
	LockBackendCandidate jdbcLockBackend(Locks locks) {
		return new LockBackendCandidate(LockBackendType.JDBC, locks::backend);
	}

	@Bean
	@ConditionalOnMissingBean(Fence.class)
	RowFence lockFence(Locks locks) {
		return locks.backend().fence();
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = "holdfast.jdbc.mode", havingValue = "transaction", matchIfMissing = true)
	@Import(FenceClaimConfiguration.class)
	static class TransactionConfiguration {

		@Bean
		Locks jdbcLocks(LockDataSource dataSource, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
			return new Locks(JdbcLockBackend.takenByTransactions(dataSource,
					() -> DatabaseCheck.connections(dataSource.get(), pools)));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = "holdfast.jdbc.mode", havingValue = "lease")
	static class LeaseConfiguration {

		@Bean
		Locks jdbcLocks(LockDataSource dataSource, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
			return new Locks(new JdbcLockBackend(dataSource, () -> DatabaseCheck.connections(dataSource.get(), pools)));
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass({ HikariDataSource.class, DataSourceUnwrapper.class })
		static class PoolConfiguration {

			@Bean
			PoolTimeoutCheck lockPoolTimeoutCheck(LockDataSource dataSource, LockProperties properties) {
				return new PoolTimeoutCheck(dataSource, properties);
			}

		}

	}

	/**
	 * The backend, which is no bean before it is chosen.
	 */
	record Locks(JdbcLockBackend backend) {

	}

	static class OnLockSchemaCondition extends OnDatabaseInitializationCondition {

		OnLockSchemaCondition() {
			super("Holdfast", "holdfast.jdbc.initialize-schema");
		}

	}

}
