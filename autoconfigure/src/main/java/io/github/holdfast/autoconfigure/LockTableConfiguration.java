package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.check.LockedBeanCheck;
import io.github.holdfast.store.jdbc.DatabaseProof;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockPurge;
import io.github.holdfast.transaction.RowClaims;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The table {@code holdfast_lock} in the application's database, for the backend
 * {@code jdbc} and for the commit guard {@code fence}.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceUtils.class, DataSourceScriptDatabaseInitializer.class })
@ConditionalOnBean(DataSource.class)
@Conditional(LockTableConfiguration.OnLockTable.class)
class LockTableConfiguration {

	@Bean
	LockDataSource lockDataSource(@HoldfastDataSource ObjectProvider<DataSource> qualified,
			ObjectProvider<DataSource> all, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		return new LockDataSource(SingletonSupplier.of(() -> qualified.getIfAvailable(all::getObject)), pools);
	}

	@Bean
	LockSchemaInitializer lockSchemaInitializer(LockDataSource dataSource, HoldfastProperties properties) {
		return new LockSchemaInitializer(dataSource.get(), properties.jdbc().initializeSchema());
	}

	@Bean
	@Order(0)
	LockStartupCheck lockDatabaseCheck(LockDataSource dataSource, LockBackend backend, HoldfastProperties properties) {
		return () -> {
			try {
				new DatabaseProof(dataSource, dataSource::poolSize).run();
			}
			catch (LockConfigurationException ex) {
				throw (backend instanceof JdbcLockBackend) ? ex : new LockConfigurationException("Commit guard 'fence'"
						+ ((properties.commitGuard() == null) ? ", the default beside a transaction manager," : "")
						+ " needs the table 'holdfast_lock'. " + ex.description(),
						"Set 'holdfast.commit-guard' to 'lease' if a holder that was paused, or whose store has lost its "
								+ "data, may commit. Otherwise: " + ex.action(),
						ex);
			}
		};
	}

	@Bean
	JdbcLockPurge jdbcLockPurge(LockDataSource dataSource, HoldfastProperties properties) {
		return new JdbcLockPurge(dataSource, properties.jdbc().retention());
	}

	@Bean
	@Conditional(OnFence.class)
	RowClaims lockRowClaims(LockBackend backend, LockDataSource dataSource, HoldfastProperties properties) {
		return (backend instanceof JdbcLockBackend jdbc)
				? RowClaims.of(jdbc, properties.jdbc().mode() == HoldfastProperties.Jdbc.Mode.TRANSACTION)
				// Both drivers share their locks
				: RowClaims.of(dataSource, backend.name().replace("redisson", "redis"));
	}

	@Bean
	@ConditionalOnProperty(name = "holdfast.backend", havingValue = "jdbc", matchIfMissing = true)
	Candidate jdbcLockBackend(LockDataSource dataSource) {
		return new Candidate(LockBackendType.JDBC, () -> new JdbcLockBackend(dataSource, dataSource::poolSize));
	}

	/**
	 * The database with the table.
	 *
	 * @param supplier finds the DataSource
	 * @param pools finds its pool
	 */
	record LockDataSource(Supplier<DataSource> supplier,
			ObjectProvider<DataSourcePoolMetadataProvider> pools) implements Supplier<DataSource> {

		@Override
		public DataSource get() {
			return this.supplier.get();
		}

		/**
		 * The size of the pool, or that of most pools if it is unknown.
		 */
		int poolSize() {
			DataSourcePoolMetadata pool = new CompositeDataSourcePoolMetadataProvider(
					this.pools.orderedStream().toList())
				.getDataSourcePoolMetadata(get());
			Integer max = (pool != null) ? pool.getMax() : null;
			return (max != null && max > 0) ? max : 10;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HikariDataSource.class, DataSourceUnwrapper.class })
	static class HikariConfiguration {

		private static final Logger logger = LoggerFactory.getLogger(LockTableConfiguration.class);

		/**
		 * A lease is renewed after a third of its time.
		 */
		@Bean
		@Order(1)
		LockStartupCheck lockPoolTimeoutCheck(LockDataSource dataSource, LockBackend backend,
				HoldfastProperties properties, LockedBeanCheck locked) {
			return () -> {
				HikariConfigMXBean pool = DataSourceUnwrapper.unwrap(dataSource.get(), HikariConfigMXBean.class,
						HikariDataSource.class);
				Duration leaseTime = locked.operations()
					.stream()
					.map((lock) -> Objects.requireNonNullElse(lock.settings().times().leaseTime(),
							properties.leaseTime()))
					.reduce(properties.leaseTime(), (one, other) -> (one.compareTo(other) < 0) ? one : other);
				if (backend instanceof JdbcLockBackend && pool != null
						&& pool.getConnectionTimeout() >= leaseTime.toMillis() / 3 * 2) {
					logger.warn(
							"A lease can run out while its renewal waits for a connection: the shortest lease time is "
									+ "{} ms, the connection timeout of pool '{}' is {} ms. Set "
									+ "'spring.datasource.hikari.connection-timeout' to {} or less",
							leaseTime.toMillis(), pool.getPoolName(), pool.getConnectionTimeout(),
							leaseTime.toMillis() / 3);
				}
			};
		}

	}

	static class OnLockTable extends AnyNestedCondition {

		OnLockTable() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnProperty(name = "holdfast.backend", havingValue = "jdbc", matchIfMissing = true)
		@ConditionalOnMissingBean(LockBackend.class)
		static class OnJdbcBackend {

		}

		@Conditional(OnFence.class)
		static class OnFencedTransactions {

		}

	}

}
