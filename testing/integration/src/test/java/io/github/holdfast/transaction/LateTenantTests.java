package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import jakarta.persistence.EntityManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The connection of a transaction is fetched for its first statement, and depends on what
 * the method has done before: it is not fetched for the lock.
 */
@Timeout(180)
class LateTenantTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "LAZY_ROUTER,redis", "LAZY_ROUTER,jdbc", "LAZY_TENANT,redis", "LAZY_TENANT,jdbc", "JPA_ROUTER,redis",
			"JPA_ROUTER,jdbc" })
	void methodWorksForTheTenantThatItChooses(Pool pool, String backend) {
		ApplicationContextRunner application = RedisStore.REDIS
			.application(TestDatabase.H2.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always",
					"holdfast.backend=" + backend, "holdfast.fenced-transaction-managers=tenantsManager")
			.withUserConfiguration(Tenants.class, pool.configuration);
		application.run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			for (String tenant : Orders.TENANTS) {
				jdbc.execute("CREATE SCHEMA " + tenant);
				jdbc.execute("CREATE TABLE " + tenant + ".stock (quantity integer)");
				jdbc.update("INSERT INTO " + tenant + ".stock VALUES (100)");
			}
			Orders orders = context.getBean(Orders.class);
			orders.takeWithoutLock("other");
			orders.take("other");
			orders.take("other");
			orders.take("other");
			assertThat(jdbc.queryForObject("SELECT quantity FROM main.stock", Integer.class)).isEqualTo(100);
			assertThat(jdbc.queryForObject("SELECT quantity FROM other.stock", Integer.class)).isEqualTo(96);
		});
	}

	private enum Pool {

		LAZY_ROUTER(LazyRouter.class),

		LAZY_TENANT(LazyTenant.class),

		JPA_ROUTER(JpaRouter.class);

		private final Class<?> configuration;

		Pool(Class<?> configuration) {
			this.configuration = configuration;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Tenants {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		Orders orders(@Qualifier("tenants") DataSource tenants) {
			return new Orders(new JdbcTemplate(tenants));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyRouter {

		@Bean(defaultCandidate = false)
		DataSource tenants(DataSource dataSource) {
			return new LazyConnectionDataSourceProxy(router(dataSource, true));
		}

		@Bean
		JdbcTransactionManager tenantsManager(@Qualifier("tenants") DataSource tenants) {
			return new JdbcTransactionManager(tenants);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyTenant {

		@Bean(defaultCandidate = false)
		DataSource tenants(DataSource dataSource) {
			return new LazyConnectionDataSourceProxy(new TenantDataSource(dataSource, null, true));
		}

		@Bean
		JdbcTransactionManager tenantsManager(@Qualifier("tenants") DataSource tenants) {
			return new JdbcTransactionManager(tenants);
		}

	}

	/**
	 * Hibernate fetches a connection late if it need not switch auto-commit off.
	 */
	@Configuration(proxyBeanMethods = false)
	static class JpaRouter {

		@Bean(defaultCandidate = false)
		DataSource tenants(DataSource dataSource) {
			return router(dataSource, false);
		}

		@Bean
		static LocalContainerEntityManagerFactoryBean entityManagerFactory(@Qualifier("tenants") DataSource tenants) {
			LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
			factory.setDataSource(tenants);
			factory.setManagedTypes(PersistenceManagedTypes.of());
			factory.setPersistenceUnitName("test");
			factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
			factory.setJpaPropertyMap(Map.of("hibernate.connection.provider_disables_autocommit", "true"));
			return factory;
		}

		@Bean
		JpaTransactionManager tenantsManager(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

	}

	private static DataSource router(DataSource dataSource, boolean autoCommit) {
		AbstractRoutingDataSource router = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return Orders.TENANT.get();
			}

		};
		router.setTargetDataSources(Orders.TENANTS.stream()
			.collect(Collectors.toMap(Function.identity(),
					(tenant) -> new TenantDataSource(dataSource, tenant, autoCommit))));
		router.afterPropertiesSet();
		return router;
	}

	/**
	 * Hands out connections to the schema of a tenant.
	 */
	private static final class TenantDataSource extends DelegatingDataSource {

		private final @Nullable String tenant;

		private final boolean autoCommit;

		/**
		 * Create a DataSource.
		 * @param tenant the tenant, or {@code null} for that of the thread
		 */
		TenantDataSource(DataSource target, @Nullable String tenant, boolean autoCommit) {
			super(target);
			this.tenant = tenant;
			this.autoCommit = autoCommit;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			try (Statement statement = connection.createStatement()) {
				String tenant = (this.tenant != null) ? this.tenant : Orders.TENANT.get();
				statement.execute("SET SCHEMA_SEARCH_PATH " + tenant + ", PUBLIC");
				connection.setAutoCommit(this.autoCommit);
				return connection;
			}
			catch (SQLException ex) {
				connection.close();
				throw ex;
			}
		}

	}

	static class Orders {

		static final List<String> TENANTS = List.of("main", "other");

		static final ThreadLocal<String> TENANT = ThreadLocal.withInitial(() -> "main");

		private final JdbcTemplate jdbc;

		Orders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "#tenant")
		@Transactional("tenantsManager")
		public void take(String tenant) {
			doTake(tenant);
		}

		@Transactional("tenantsManager")
		public void takeWithoutLock(String tenant) {
			doTake(tenant);
		}

		private void doTake(String tenant) {
			TENANT.set(tenant);
			try {
				this.jdbc.update("UPDATE stock SET quantity = quantity - 1");
			}
			finally {
				TENANT.remove();
			}
		}

	}

}
