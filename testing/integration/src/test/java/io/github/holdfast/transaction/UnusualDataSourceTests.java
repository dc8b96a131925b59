package io.github.holdfast.transaction;

import java.sql.Connection;
import java.util.Map;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * DataSources that answer nothing outside of a request, or for a tenant only: they start
 * as they do without locks.
 */
@Timeout(180)
class UnusualDataSourceTests {

	private static final DatabaseAccess DATABASE = TestDatabase.H2.newDatabase();

	@Test
	void dataSourceThatDoesNotTellWhatItWrapsIsLeftAlone() {
		application().withUserConfiguration(Silent.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void routerThatKnowsNoTenantAtTheStartIsLeftAlone() {
		application().withUserConfiguration(Tenants.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void managerOfARouterThatKnowsNoTenantAtTheStartIsLeftAlone() {
		application().withUserConfiguration(Tenants.class, TenantsManager.class)
			.withPropertyValues("holdfast.fenced-transaction-managers=tenantsManager")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void managerOfAnotherRouterThatKnowsNoTenantAtTheStartIsLeftAlone() {
		application().withUserConfiguration(Own.class, TenantsManager.class)
			.withPropertyValues("holdfast.fenced-transaction-managers=tenantsManager")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static ApplicationContextRunner application() {
		return LockedApplication.jdbc(DATABASE).withUserConfiguration(Main.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class Main {

		@Bean
		@Primary
		DataSource dataSource() {
			return DATABASE.dataSource(4);
		}

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Silent {

		@Bean
		DataSource tenants() {
			return new SimpleDriverDataSource() {

				@Override
				public boolean isWrapperFor(Class<?> iface) {
					throw new UnsupportedOperationException();
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Tenants {

		@Bean
		DataSource tenants() {
			AbstractRoutingDataSource router = new AbstractRoutingDataSource() {

				@Override
				protected Object determineCurrentLookupKey() {
					throw new UnsupportedOperationException("No tenant");
				}

			};
			router.setTargetDataSources(Map.of("a", DATABASE.dataSource(1)));
			return router;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Own {

		@Bean
		DataSource tenants() {
			return new AbstractDataSource() {

				@Override
				public Connection getConnection() {
					throw new UnsupportedOperationException("No tenant");
				}

				@Override
				public Connection getConnection(String user, String password) {
					throw new UnsupportedOperationException("No tenant");
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TenantsManager {

		@Bean
		JdbcTransactionManager tenantsManager(@Qualifier("tenants") DataSource tenants) {
			return new JdbcTransactionManager(tenants);
		}

	}

}
