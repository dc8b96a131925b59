package io.github.holdfast.transaction;

import javax.sql.DataSource;

import jakarta.persistence.EntityManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions of JDBC, in which entities are only read, with and without an
 * EntityManager that is open during the whole request.
 */
@Timeout(180)
class JdbcManagerInViewTests {

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "H2,false,true", "H2,true,false", "H2,true,true", "MARIADB,true,true", "POSTGRESQL,true,true" })
	void entityIsReadInALockedMethod(TestDatabase database, boolean view, boolean locked) {
		RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"spring.jpa.hibernate.ddl-auto=create")
			.withUserConfiguration(JdbcManager.class)
			.run((context) -> {
				Orders orders = context.getBean(Orders.class);
				orders.fill();
				Runnable request = locked ? orders::takeUnderLock : orders::take;
				if (view) {
					OpenView.inView(context, request);
				}
				else {
					request.run();
				}
				assertThat(orders.quantity()).isEqualTo(99);
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class JdbcManager {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(JpaStockService.Stock.class.getName());
		}

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		Orders orders(EntityManager entities, JdbcTemplate jdbc) {
			return new Orders(entities, jdbc);
		}

	}

	static class Orders {

		private final EntityManager entities;

		private final JdbcTemplate jdbc;

		Orders(EntityManager entities, JdbcTemplate jdbc) {
			this.entities = entities;
			this.jdbc = jdbc;
		}

		public void fill() {
			this.jdbc.update("INSERT INTO stock (sku, quantity) VALUES ('A', 100)");
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public void takeUnderLock() {
			doTake();
		}

		@Transactional
		public void take() {
			doTake();
		}

		private void doTake() {
			int quantity = this.entities.find(JpaStockService.Stock.class, "A").getQuantity();
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - 1);
		}

		public int quantity() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

	}

}
