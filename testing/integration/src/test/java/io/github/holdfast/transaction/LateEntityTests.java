package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PreUpdate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WaitingCall;

import static io.github.holdfast.transaction.OpenView.inView;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What the session of open-in-view, or its connection, would write later: the lock is not
 * handed over early then, although the clean-up of the transaction takes long.
 */
@Tag("F64")
class LateEntityTests {

	private static final Runnable NOTHING = () -> {
	};

	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void entityThatACallbackHasChangedIsRefusedUnderTheLock(TestDatabase database) {
		run(database, true, (context, service) -> {
			List<CompletableFuture<?>> next = new ArrayList<>();
			inView(context, () -> {
				Throwable failure = catchThrowable(() -> service.take("A",
						() -> next.add(waitingView(context, () -> service.take("A", NOTHING, NOTHING))),
						() -> service.find("A").sold++));
				join(next);
				service.add("note");
				assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessageContaining("transaction");
			});
			assertThat(quantity(context, "A")).isEqualTo(98);
		});
	}

	/**
	 * In a pool without auto-commit a later part of the request would commit the write.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB", "POSTGRESQL" })
	void writeOfACallbackThatTheFlushHasRegisteredIsNotCommittedLater(TestDatabase database) {
		run(database, false, (context, service) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			List<CompletableFuture<?>> next = new ArrayList<>();
			inView(context, () -> {
				service.takePlain("A", () -> {
					next.add(waitingView(context, () -> service.takePlain("A", NOTHING)));
					Goods.WHEN_UPDATED.set(
							() -> afterCompletion(() -> jdbc.update("UPDATE goods SET quantity = 55 WHERE sku = 'S'")));
				});
				join(next);
				service.add("note");
			});
			assertThat(quantity(context, "S")).isEqualTo(100);
			assertThat(quantity(context, "A")).isEqualTo(98);
		});
	}

	private static void run(TestDatabase database, boolean autoCommit, Check check) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port())) {
			proxy.delay(Duration.ofMillis(1));
			LockedApplication.jdbc(access.onPort(proxy.port()))
				.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
				.withPropertyValues("spring.jpa.hibernate.ddl-auto=create", "holdfast.wait-time=60s",
						"holdfast.handover.max-time=60s", "spring.datasource.hikari.auto-commit=" + autoCommit)
				.withBean(PersistenceManagedTypes.class, () -> PersistenceManagedTypes.of(Goods.class.getName()))
				.withBean(Service.class)
				.run((context) -> {
					Service service = context.getBean(Service.class);
					List.of("A", "S", "W").forEach(service::add);
					for (int i = 0; i < 5; i++) {
						inView(context, () -> service.take("W", NOTHING, NOTHING));
					}
					check.run(context, service);
				});
		}
	}

	private static CompletableFuture<?> waitingView(ApplicationContext context, Runnable request) {
		return WaitingCall.start(() -> {
			inView(context, request);
			return true;
		});
	}

	private static void join(List<CompletableFuture<?>> calls) {
		calls.forEach((call) -> call.orTimeout(60, TimeUnit.SECONDS).join());
	}

	private static int quantity(ApplicationContext context, String sku) {
		Integer quantity = new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.execute((status) -> context.getBean(JdbcTemplate.class)
				.queryForObject("SELECT quantity FROM goods WHERE sku = ?", Integer.class, sku));
		return (quantity != null) ? quantity : -1;
	}

	private static void afterCompletion(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				action.run();
			}

		});
	}

	private interface Check {

		void run(ApplicationContext context, Service service);

	}

	static class Service {

		private final EntityManager entities;

		Service(EntityManager entities) {
			this.entities = entities;
		}

		Goods find(String sku) {
			return this.entities.find(Goods.class, sku);
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void add(String sku) {
			this.entities.persist(new Goods(sku));
		}

		/**
		 * With a clean-up that asks the database.
		 */
		@DistributedLock(key = "#sku")
		@Transactional(isolation = Isolation.SERIALIZABLE)
		public void take(String sku, Runnable whileHeld, Runnable afterCommit) {
			Goods goods = find(sku);
			whileHeld.run();
			goods.quantity--;
			afterCompletion(afterCommit);
		}

		@DistributedLock(key = "#sku")
		@Transactional(isolation = Isolation.READ_UNCOMMITTED)
		public void takePlain(String sku, Runnable whileHeld) {
			Goods goods = find(sku);
			whileHeld.run();
			goods.quantity--;
		}

	}

	@Entity(name = "goods")
	static class Goods {

		static final ThreadLocal<Runnable> WHEN_UPDATED = new ThreadLocal<>();

		@Id
		private String sku = "";

		int quantity = 100;

		int sold;

		Goods() {
		}

		Goods(String sku) {
			this.sku = sku;
		}

		@PreUpdate
		void updating() {
			Runnable action = WHEN_UPDATED.get();
			if (action != null) {
				WHEN_UPDATED.remove();
				action.run();
			}
		}

	}

}
