package io.github.holdfast.transaction;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManager;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Hibernate may give the connection of a transaction back with its commit, and take
 * another one for what comes after it.
 */
class ConnectionOfHibernateTests {

	@ParameterizedTest
	@EnumSource
	void callbackUsesNoConnectionThatWasGivenBack(TestDatabase database) {
		run(database, (context, service) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			Integer[] seen = { null };
			service.addOne(() -> whenCommitted(
					() -> seen[0] = jdbc.queryForObject("SELECT quantity FROM stock", Integer.class)));
			assertThat(seen[0]).isEqualTo(104);
		});
	}

	/**
	 * Somebody else has it, and there is no other one.
	 */
	@ParameterizedTest
	@EnumSource
	void callbackNeedsNoConnection(TestDatabase database) {
		run(database, (context, service) -> {
			HikariDataSource pool = (HikariDataSource) context.getBean(DataSource.class);
			List<Connection> taken = new ArrayList<>();
			service.addOne(() -> whenCommitted(() -> taken.add(anyOf(pool))));
			taken.forEach(JdbcUtils::closeConnection);
			assertThat(taken).hasSize(1);
			assertThat(context.getBean(JdbcTemplate.class).queryForObject("SELECT quantity FROM stock", Integer.class))
				.isEqualTo(104);
		});
	}

	private static void run(TestDatabase database, BiConsumer<ApplicationContext, Service> test) {
		LockedApplication.jdbc(database.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withUserConfiguration(Entities.class)
			.withBean(Service.class)
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=update", "spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.connection-timeout=10000",
					"spring.jpa.properties.hibernate.connection.handling_mode=DELAYED_ACQUISITION_AND_RELEASE_AFTER_TRANSACTION")
			.run((context) -> {
				context.getBean(JdbcTemplate.class).update("INSERT INTO stock (sku, quantity) VALUES ('A', 100)");
				Service service = context.getBean(Service.class);
				for (int i = 1; i <= 3; i++) {
					service.addOne(() -> {
					});
				}
				test.accept(context, service);
			});
	}

	private static Connection anyOf(DataSource pool) {
		return CompletableFuture.supplyAsync(() -> DataSourceUtils.getConnection(pool)).join();
	}

	private static void whenCommitted(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.run();
			}

		});
	}

	static class Service {

		private final EntityManager entities;

		Service(EntityManager entities) {
			this.entities = entities;
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void addOne(Runnable body) {
			this.entities.find(JpaStockService.Stock.class, "A").add();
			body.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Entities {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(JpaStockService.Stock.class.getName());
		}

	}

}
