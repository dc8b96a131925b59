package io.github.holdfast.transaction;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static io.github.holdfast.transaction.OpenView.inView;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A claim that is refused, with a persistence context that is open longer than the
 * transaction.
 */
class ClaimInViewTests {

	private final RedisServer redis = RedisServer.shared();

	/**
	 * The rollback of the refused transaction detaches the entity that the body is given.
	 */
	@ParameterizedTest
	@EnumSource
	void changeOfAnEntityIsNotLostWhenAClaimIsRefused(TestDatabase database) {
		run(database.newDatabase(), (service, jdbc, entities) -> {
			for (int i = 0; i < 3; i++) {
				if (i == 2) {
					jdbc.update("DELETE FROM holdfast_fence");
				}
				inView(entities, () -> {
					JpaStockService.Stock stock = service.find();
					service.addOne(stock);
				});
				assertThat(jdbc.queryForObject("SELECT quantity FROM stock", Integer.class)).as("call %s", i)
					.isEqualTo(101 + i);
			}
		});
	}

	private void run(DatabaseAccess database, Scenario scenario) {
		this.redis.command("FLUSHALL");
		LockedApplication.jdbc(database)
			.withConfiguration(
					AutoConfigurations.of(DataRedisAutoConfiguration.class, HibernateJpaAutoConfiguration.class))
			.withUserConfiguration(Entities.class)
			.withBean(Service.class)
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.redis.port(),
					"spring.jpa.hibernate.ddl-auto=update", "holdfast.jpa.stale-context=allow",
					"holdfast.backend=redis", "holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always")
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.update("INSERT INTO stock (sku, quantity) VALUES ('A', 100)");
				scenario.run(context.getBean(Service.class), jdbc, context.getBean(EntityManagerFactory.class));
			});
	}

	private interface Scenario {

		void run(Service service, JdbcTemplate jdbc, EntityManagerFactory entities);

	}

	static class Service {

		private final EntityManager entities;

		Service(EntityManager entities) {
			this.entities = entities;
		}

		JpaStockService.Stock find() {
			return this.entities.find(JpaStockService.Stock.class, "A");
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void addOne(JpaStockService.Stock stock) {
			stock.add();
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
