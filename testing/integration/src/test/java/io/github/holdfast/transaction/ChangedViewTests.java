package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Locked calls in an open view, whose entities are changed, or whose calls fail: they
 * have contexts of their own, and the view goes on with its own afterwards.
 */
@Timeout(180)
class ChangedViewTests {

	/**
	 * Also where the view is not flushed: the next transaction lets Hibernate flush it,
	 * and would write what is old by then.
	 */
	@ParameterizedTest
	@EnumSource(FlushMode.class)
	void changeOfAnEntityOfTheViewIsNotWrittenWithoutTheLock(FlushMode mode) {
		assertThat(soldInAView(mode)).isInstanceOf(IllegalStateException.class);
	}

	@Test
	void updateIsLostWhenAllowed() {
		assertThat(soldInAView(FlushMode.MANUAL, "holdfast.jpa.stale-context=allow")).isNull();
	}

	/**
	 * Sells a piece of what the view has read, while others sell three.
	 */
	private @Nullable Throwable soldInAView(FlushMode mode, String... properties) {
		AcknowledgedSales sales = new AcknowledgedSales();
		Throwable[] failure = new Throwable[1];
		run(TestDatabase.H2, 5, (service, jdbc, entities) -> {
			sales.sell(1, () -> service.take("A"));
			inView(entities, mode, () -> {
				JpaStockService.Stock seen = service.find("A");
				sales.sellMeanwhile(1, () -> service.take("A"));
				failure[0] = sales.sell(1, () -> service.takeFrom(seen));
				sales.sellMeanwhile(1, () -> service.take("A"));
				service.inTransaction(() -> {
				});
			});
			if (properties.length == 0) {
				sales.assertNoneIsLostIn(quantity(jdbc));
			}
			else {
				assertThat(quantity(jdbc)).as("four were sold").isGreaterThan(96);
			}
		}, properties);
		return failure[0];
	}

	@Test
	void changeFromBeforeTheLockIsRefused() {
		run(TestDatabase.H2, 5, (service, jdbc, entities) -> inView(entities, FlushMode.MANUAL, () -> {
			service.change("A", 7);
			assertThatIllegalStateException().isThrownBy(() -> service.take("A")).withMessageContaining("not flushed");
		}));
	}

	@ParameterizedTest
	@EnumSource
	void threadsInViewsWithASmallPool(TestDatabase database) {
		for (int pool : List.of(1, 2)) {
			run(database, pool, (service, jdbc, entities) -> {
				service.take("A");
				service.take("A");
				List<CompletableFuture<Void>> sales = new ArrayList<>();
				for (int i = 0; i < 6; i++) {
					sales.add(CompletableFuture.runAsync(() -> inView(entities, FlushMode.AUTO, () -> {
						for (int j = 0; j < 5; j++) {
							service.look("A");
							service.take("A");
						}
					})));
				}
				sales.forEach(CompletableFuture::join);
				assertThat(quantity(jdbc)).isEqualTo(98 - 30);
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void failedBodyInAView(TestDatabase database) {
		run(database, 3, (service, jdbc, entities) -> {
			service.takeAnd("A", () -> {
			});
			service.takeAnd("A", () -> {
			});
			inView(entities, FlushMode.AUTO, () -> {
				JpaStockService.Stock seen = service.find("A");
				assertThat(catchThrowable(() -> service.takeAnd("A", () -> {
					throw new UnsupportedOperationException();
				}))).isInstanceOf(UnsupportedOperationException.class);
				assertThat(service.isManaged(seen)).isTrue();
				assertThat(catchThrowable(() -> service.takeAnd("A", () -> service.takeInNewTransaction("B"))))
					.isNotNull();
				assertThat(service.isManaged(seen)).isTrue();
				jdbc.update("DELETE FROM holdfast_lock");
				service.takeAnd("A", () -> assertThat(service.isManaged(seen)).isFalse());
				assertThat(service.isManaged(seen)).isTrue();
				service.takeAnd("A", () -> service.takeInNewTransaction("B"));
				assertThat(service.isManaged(seen)).isTrue();
			});
			assertThat(quantity(jdbc)).isEqualTo(96);
		});
	}

	private static int quantity(JdbcTemplate jdbc) {
		return jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
	}

	private static void inView(EntityManagerFactory entities, FlushMode mode, Runnable request) {
		EntityManager manager = entities.createEntityManager();
		manager.unwrap(Session.class).setHibernateFlushMode(mode);
		TransactionSynchronizationManager.bindResource(entities, new EntityManagerHolder(manager));
		try {
			request.run();
		}
		finally {
			TransactionSynchronizationManager.unbindResource(entities);
			manager.close();
		}
	}

	private void run(TestDatabase database, int pool, Scenario scenario, String... properties) {
		LockedApplication.jdbc(database.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withUserConfiguration(Entities.class)
			.withBean(JpaStockService.class)
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=update",
					"spring.datasource.hikari.maximum-pool-size=" + pool)
			.withPropertyValues(properties)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.update("INSERT INTO stock (sku, quantity) VALUES ('A', 100), ('B', 100)");
				scenario.run(context.getBean(JpaStockService.class), jdbc, context.getBean(EntityManagerFactory.class));
			});
	}

	private interface Scenario {

		void run(JpaStockService service, JdbcTemplate jdbc, EntityManagerFactory entities);

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
