package io.github.holdfast.transaction;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.Filter;
import org.hibernate.annotations.FilterDef;
import org.hibernate.annotations.ParamDef;
import org.junit.jupiter.api.Test;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.hibernate.HibernateTransactionManager;
import org.springframework.orm.jpa.hibernate.SessionHolder;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.jpa.OuterEntityListener;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static io.github.holdfast.transaction.OpenView.inView;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What is bound to the thread before a locked call is bound to it afterwards, the very
 * same objects, however the call ends; and no context of a call is left open.
 */
class IsolatedContextsTests {

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
		.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
		.withBean(PersistenceManagedTypes.class,
				() -> PersistenceManagedTypes.of(JpaStockService.Stock.class.getName(), Note.class.getName()))
		.withBean(JpaStockService.class);

	@Test
	void everyKindOfCallLeavesWhatWasBound() {
		run((stock, context) -> inView(context, () -> {
			stock.find("A");
			Map<Object, Object> before = bound();
			stock.take("A");
			assertThat(bound()).isEqualTo(before);
			stock.takeInNewTransaction("A");
			assertThat(bound()).isEqualTo(before);
			stock.lookOutsideOfTransaction("A");
			assertThat(bound()).isEqualTo(before);
			stock.lookWithoutTransaction("A");
			assertThat(bound()).isEqualTo(before);
			assertThatIllegalStateException().isThrownBy(() -> stock.takeAnd("A", () -> {
				throw new IllegalStateException("failed");
			})).withMessage("failed");
			assertThat(bound()).isEqualTo(before);
			assertThatIllegalStateException().isThrownBy(() -> stock.takeAnd("A", () -> stock.take("B")));
			assertThat(bound()).isEqualTo(before);
			assertThat(stock.takeAnd("A", () -> stock.takeInNewTransaction("B"))).isEqualTo(97);
			assertThat(bound()).isEqualTo(before);
			assertThat(quantity(context, "B")).isEqualTo(99);
		}));
	}

	@Test
	void newTransactionInsideOfATransactionThatUsesTheView() {
		run((stock, context) -> inView(context, () -> {
			Map<Object, Object> before = bound();
			stock.inTransaction(() -> {
				JpaStockService.Stock read = stock.find("B");
				assertThat(stock.takeInNewTransaction("A")).isEqualTo(99);
				assertThat(stock.find("B")).isSameAs(read);
			});
			assertThat(bound()).isEqualTo(before);
		}));
	}

	@Test
	void viewIsBackAtTheEndOfAScopeOfSynchronizationsThatUsesTheContextOfTheCall() {
		run((stock, context) -> inView(context, () -> {
			JpaStockService.Stock outer = stock.find("A");
			Map<Object, Object> before = bound();
			EntityManager[] own = new EntityManager[1];
			stock.inScopeWithoutTransaction(() -> {
				stock.lookWithoutTransaction("A");
				own[0] = manager(context);
			});
			assertThat(bound()).isEqualTo(before);
			assertThat(stock.find("A")).isSameAs(outer);
			assertThat(own[0].isOpen()).isFalse();
		}));
	}

	@Test
	void viewIsBackWhenAScopeWasClosedInsideOfItsTransaction() {
		run((stock, context) -> inView(context, () -> {
			Map<Object, Object> before = bound();
			LockTemplate.Scope scope = context.getBean(LockTemplate.class).acquire("first");
			EntityManager own = manager(context);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.setIsolationLevel(TransactionTemplate.ISOLATION_SERIALIZABLE);
			transaction.executeWithoutResult((status) -> {
				stock.find("A");
				scope.close();
				status.setRollbackOnly();
			});
			assertThat(bound()).isEqualTo(before);
			assertThat(own.isOpen()).isFalse();
			assertThat(stock.take("A")).isEqualTo(99);
			assertThat(bound()).isEqualTo(before);
			assertNoConnectionIsUsed(context);
		}));
	}

	@Test
	void nothingOfAnEarlierViewIsBoundAgain() {
		run((stock, context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			EntityManager[] view = new EntityManager[1];
			inView(context, () -> {
				view[0] = manager(context);
				LockTemplate.Scope scope = locks.acquire("first");
				CompletableFuture.runAsync(scope::close).join();
			});
			assertThat(stock.take("A")).isEqualTo(99);
			assertThat(bound()).isEmpty();
			inView(context, () -> assertThat(stock.take("A")).isEqualTo(98));
			assertThat(bound()).isEmpty();
			assertThat(view[0].isOpen()).as("the view that nobody else could close").isFalse();
		});
	}

	@Test
	void viewsOfSeveralFactoriesAreIsolated() {
		run((stock, context) -> {
			LocalContainerEntityManagerFactoryBean bean = noteFactory(context.getBean(DataSource.class));
			EntityManagerFactory second = bean.getObject();
			assertThat(second).isNotNull();
			OuterEntityListener.register(second);
			try {
				inView(second, () -> inView(context, () -> {
					JpaStockService.Stock read = stock.find("A");
					Map<Object, Object> before = bound();
					assertThat(before).hasSize(2);
					context.getBean(LockTemplate.class).run("stock:B", () -> {
						assertThat(bound()).hasSize(2).doesNotContainValue(before.values().iterator().next());
						stock.inTransaction(() -> stock.save(new JpaStockService.Stock("B", 7)));
					});
					assertThat(quantity(context, "B")).as("what no view knows is saved").isEqualTo(7);
					assertThat(bound()).isEqualTo(before);
					assertThat(stock.find("A")).isSameAs(read);
				}));
			}
			finally {
				bean.destroy();
			}
		});
	}

	@Test
	void entityFromBeforeTheLockIsNotSavedWhenAllBeansAreLazy() {
		run(this.application.withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor())),
				(stock, context) -> inView(context, () -> {
					JpaStockService.Stock read = stock.find("A");
					assertThatException().isThrownBy(() -> stock.save(read))
						.withMessageContaining("was read before the lock");
				}));
	}

	@Test
	void allIsPutBackAndReleasedIfAContextCannotBeMade() {
		run((stock, context) -> inView(context, () -> {
			EntityManager broken = (EntityManager) Proxy.newProxyInstance(EntityManager.class.getClassLoader(),
					new Class<?>[] { EntityManager.class }, (proxy, method, arguments) -> {
						throw new UnsupportedOperationException("broken");
					});
			TransactionSynchronizationManager.bindResource("broken factory", new EntityManagerHolder(broken));
			Map<Object, Object> before = bound();
			try {
				assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> stock.take("A"))
					.withMessage("broken");
				assertThat(bound()).isEqualTo(before);
			}
			finally {
				TransactionSynchronizationManager.unbindResource("broken factory");
			}
			assertThat(stock.take("A")).isEqualTo(99);
		}));
	}

	@Test
	void viewOfHibernatesOwnManagerIsIsolated() {
		run((stock, context) -> {
			SessionFactory factory = context.getBean(EntityManagerFactory.class).unwrap(SessionFactory.class);
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(new HibernateTransactionManager(factory));
			try (Session view = factory.openSession()) {
				SessionHolder holder = new SessionHolder(view);
				TransactionSynchronizationManager.bindResource(factory, holder);
				view.find(JpaStockService.Stock.class, "A");
				stock.take("A");
				locks.run("stock:A", () -> {
					assertThat(TransactionSynchronizationManager.getResource(factory))
						.isInstanceOfSatisfying(SessionHolder.class, (own) -> {
							assertThat(own.getSession()).isNotSameAs(view);
							assertThat(own.getSession().find(JpaStockService.Stock.class, "A").getQuantity())
								.isEqualTo(99);
						});
					transaction.executeWithoutResult((status) -> assertThat(status.isNewTransaction()).isTrue());
				});
				assertThat(TransactionSynchronizationManager.unbindResource(factory)).isSameAs(holder);
			}
			assertNoConnectionIsUsed(context);
		});
	}

	@Test
	void filtersOfTheViewAreEnabledForTheCall() {
		run((stock, context) -> {
			context.getBean(JdbcTemplate.class)
				.update("INSERT INTO note (id, owner) VALUES (1, 'mine'), (2, 'mine'), (3, 'theirs')");
			inView(context, () -> {
				manager(context).unwrap(Session.class).enableFilter("owned").setParameter("owner", "mine");
				assertThat(notes(context)).isEqualTo(2);
				context.getBean(LockTemplate.class).run("notes", () -> {
					assertThat(notes(context)).isEqualTo(2);
					stock.inTransaction(() -> assertThat(notes(context)).isEqualTo(2));
				});
			});
		});
	}

	private static long notes(ApplicationContext context) {
		return context.getBean(EntityManager.class)
			.createQuery("select count(*) from note", Long.class)
			.getSingleResult();
	}

	private static LocalContainerEntityManagerFactoryBean noteFactory(DataSource dataSource) {
		LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
		factory.setDataSource(dataSource);
		factory.setPersistenceUnitName("notes");
		factory.setManagedTypes(PersistenceManagedTypes.of(Note.class.getName()));
		factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		factory.afterPropertiesSet();
		return factory;
	}

	private static Map<Object, Object> bound() {
		return Map.copyOf(TransactionSynchronizationManager.getResourceMap());
	}

	private static EntityManager manager(ApplicationContext context) {
		Object holder = TransactionSynchronizationManager.getResource(context.getBean(EntityManagerFactory.class));
		assertThat(holder).isInstanceOf(EntityManagerHolder.class);
		return ((EntityManagerHolder) holder).getEntityManager();
	}

	private static void assertNoConnectionIsUsed(ApplicationContext context) {
		assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	private static Integer quantity(ApplicationContext context, String sku) {
		return context.getBean(JdbcTemplate.class)
			.queryForObject("SELECT quantity FROM stock WHERE sku = ?", Integer.class, sku);
	}

	private void run(Scenario scenario) {
		run(this.application, scenario);
	}

	private static void run(ApplicationContextRunner application, Scenario scenario) {
		application.run((context) -> {
			JpaStockService stock = context.getBean(JpaStockService.class);
			stock.add("A", 100);
			stock.add("B", 100);
			scenario.run(stock, context);
			assertThat(bound()).isEmpty();
		});
	}

	interface Scenario {

		void run(JpaStockService stock, ApplicationContext context);

	}

	@Entity(name = "note")
	@FilterDef(name = "owned", parameters = @ParamDef(name = "owner", type = String.class))
	@Filter(name = "owned", condition = "owner = :owner")
	static class Note {

		@Id
		private long id;

		private String owner = "";

		long id() {
			return this.id;
		}

		String owner() {
			return this.owner;
		}

	}

}
