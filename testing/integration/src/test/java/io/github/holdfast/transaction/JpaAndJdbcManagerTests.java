package io.github.holdfast.transaction;

import java.util.Locale;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A manager for JPA and one for JDBC on the same DataSource, both guarded by the fence.
 */
class JpaAndJdbcManagerTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jpaCommitIsAssertedAfterItsStatements(TestDatabase database) {
		run(database, (service, dataSource) -> {
			service.addByJpa("A", dataSource::clear);
			assertThat(dataSource.statements()).extracting(JpaAndJdbcManagerTests::kind)
				.startsWith("insert", "assert", "commit");
			assertThat(service.rows()).isOne();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jdbcCommitIsAsserted(TestDatabase database) {
		run(database, (service, dataSource) -> {
			service.addByJdbc("A", dataSource::clear);
			assertThat(dataSource.statements()).extracting(JpaAndJdbcManagerTests::kind)
				.startsWith("insert", "assert", "commit");
			assertThat(service.rows()).isOne();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderCommitsByNeitherManager(TestDatabase database) {
		run(database, (service, dataSource) -> {
			Runnable supersede = () -> CompletableFuture
				.runAsync(() -> new JdbcTemplate(dataSource)
					.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL, expires_at = 0"))
				.join();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> service.addByJpa("A", supersede));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> service.addByJdbc("A", supersede));
			assertThat(service.rows()).isZero();
		});
	}

	private static void run(TestDatabase database, Scenario scenario) {
		LockedApplication.jdbc(database.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.withUserConfiguration(TwoManagers.class)
			.run((context) -> scenario.run(context.getBean(Service.class), context.getBean(RecordingDataSource.class)));
	}

	private static String kind(String statement) {
		String lowerCase = statement.toLowerCase(Locale.ROOT);
		return lowerCase.contains("select 1 from holdfast_lock") ? "assert" : lowerCase.split(" ")[0];
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		static BeanPostProcessor recording() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? new RecordingDataSource(dataSource) : bean;
				}

			};
		}

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(JpaStockService.Stock.class.getName());
		}

		@Bean
		@Primary
		JpaTransactionManager jpaManager(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

		@Bean
		JdbcTransactionManager jdbcManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		Service service(EntityManager entities, JdbcTemplate jdbc) {
			return new Service(entities, jdbc);
		}

	}

	interface Scenario {

		void run(Service service, RecordingDataSource dataSource);

	}

	static class Service {

		private final EntityManager entities;

		private final JdbcTemplate jdbc;

		Service(EntityManager entities, JdbcTemplate jdbc) {
			this.entities = entities;
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "#sku")
		@Transactional("jpaManager")
		public void addByJpa(String sku, Runnable whileHeld) {
			whileHeld.run();
			this.entities.persist(new JpaStockService.Stock(sku, 1));
		}

		@DistributedLock(key = "#sku")
		@Transactional("jdbcManager")
		public void addByJdbc(String sku, Runnable whileHeld) {
			whileHeld.run();
			this.jdbc.update("INSERT INTO stock (sku, quantity) VALUES (?, 1)", sku);
		}

		public int rows() {
			Integer rows = this.jdbc.queryForObject("SELECT count(*) FROM stock", Integer.class);
			return (rows != null) ? rows : -1;
		}

	}

}
