package io.github.holdfast.transaction;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceException;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.context.request.ServletWebRequest;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The connection and the snapshot that the session of open-in-view keeps. */
class ViewConnectionTests {

	@ParameterizedTest
	@CsvSource({ "MARIADB, isolate, true, false", "MARIADB, isolate, false, false", "MARIADB, allow, false, false",
			"MARIADB, isolate, false, true", "POSTGRESQL, isolate, false, false", "H2, isolate, false, false" })
	void snapshotOfTheViewIsNotThatOfTheLockedTransaction(TestDatabase database, String staleContext,
			boolean autoCommit, boolean optimistic) {
		application(database)
			.withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit,
					"holdfast.jpa.stale-context=" + staleContext)
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				stock.add("A", 100);
				inView(context, () -> {
					stock.count();
					CompletableFuture.supplyAsync(() -> stock.take("A")).join();
					if (optimistic) {
						stock.takeOptimistically("A");
					}
					else {
						stock.take("A");
					}
				});
				assertThat(stock.quantity("A")).isEqualTo(98);
				assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections())
					.isZero();
			});
	}

	@Test
	void viewsArePutBackAlthoughTheContextsOfTheCallFail() {
		application(TestDatabase.H2).run((context) -> {
			Map<Object, EntityManagerHolder> views = Map.of(failing(), holder(false), failing(), holder(false));
			views.forEach(TransactionSynchronizationManager::bindResource);
			try {
				assertThatExceptionOfType(NoClassDefFoundError.class)
					.isThrownBy(() -> context.getBean(LockTemplate.class)
						.run("A", () -> views.forEach(
								(factory, view) -> assertThat(TransactionSynchronizationManager.getResource(factory))
									.isNotSameAs(view))))
					.withMessage("of the provider");
				views.forEach((factory, view) -> assertThat(TransactionSynchronizationManager.getResource(factory))
					.isSameAs(view));
			}
			finally {
				views.keySet().forEach(TransactionSynchronizationManager::unbindResource);
			}
		});
	}

	@Test
	void viewsStayAlthoughOnlyTheFirstContextOfTheCallCanBeCreated() {
		application(TestDatabase.H2).run((context) -> {
			AtomicInteger created = new AtomicInteger();
			Function<String, Object> create = (method) -> {
				if (created.getAndIncrement() > 0) {
					throw new PersistenceException("no tenant");
				}
				return holder(false).getEntityManager();
			};
			Map<Object, EntityManagerHolder> views = Map.of(proxy(EntityManagerFactory.class, create), holder(false),
					proxy(EntityManagerFactory.class, create), holder(false));
			views.forEach(TransactionSynchronizationManager::bindResource);
			try {
				assertThatExceptionOfType(PersistenceException.class)
					.isThrownBy(() -> context.getBean(LockTemplate.class).run("A", created::get))
					.withMessage("no tenant");
				views.forEach((factory, view) -> assertThat(TransactionSynchronizationManager.getResource(factory))
					.isSameAs(view));
			}
			finally {
				views.keySet().forEach(TransactionSynchronizationManager::unbindResource);
			}
		});
	}

	private static EntityManagerFactory failing() {
		return proxy(EntityManagerFactory.class, (method) -> holder(true).getEntityManager());
	}

	private static EntityManagerHolder holder(boolean fails) {
		return new EntityManagerHolder(proxy(EntityManager.class, (method) -> {
			if (!method.equals("unwrap")) {
				return method.equals("isOpen");
			}
			if (fails) {
				throw new NoClassDefFoundError("of the provider");
			}
			throw new PersistenceException();
		}));
	}

	private static <T> T proxy(Class<T> type, Function<String, Object> calls) {
		Object identity = new Object();
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, args) -> switch (method.getName()) {
					case "hashCode" -> identity.hashCode();
					case "equals" -> proxy == args[0];
					case "toString" -> type.getSimpleName();
					case "close" -> null;
					default -> calls.apply(method.getName());
				}));
	}

	@ParameterizedTest
	@CsvSource({ "H2,true", "MARIADB,true", "MARIADB,false", "POSTGRESQL,true" })
	void requestsDoNotWaitForEachOther(TestDatabase database, boolean autoCommit) {
		application(database)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=4",
					"spring.datasource.hikari.connection-timeout=60000", "holdfast.wait-time=60s",
					"spring.datasource.hikari.auto-commit=" + autoCommit)
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				stock.add("A", 100);
				CyclicBarrier barrier = new CyclicBarrier(4);
				ExecutorService requests = Executors.newFixedThreadPool(4);
				try {
					List<CompletableFuture<Void>> calls = new ArrayList<>();
					for (int i = 0; i < 4; i++) {
						calls.add(CompletableFuture.runAsync(() -> inView(context, () -> {
							stock.count();
							await(barrier);
							stock.take("A");
						}), requests));
					}
					calls.forEach(CompletableFuture::join);
				}
				finally {
					requests.shutdownNow();
				}
				assertThat(stock.quantity("A")).isEqualTo(96);
			});
	}

	/**
	 * They would be written by a transaction that comes when the lock is another one's.
	 */
	@Test
	void changesWithoutATransactionAreRefusedAtTheEndOfTheLock() {
		application(TestDatabase.H2).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.add("A", 100);
			inView(context, () -> {
				assertThatIllegalStateException().isThrownBy(() -> stock.change("A"))
					.withMessageContaining("Lock 'stock:A'")
					.withMessageContaining("@Transactional");
				stock.add("B", 1);
			});
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	/**
	 * Hibernate takes an attribute without an {@code equals} method for changed, always.
	 */
	@Test
	void attributeThatAlwaysSeemsChangedIsNotAChange() {
		application(TestDatabase.H2).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.add("A", 100);
			inView(context, () -> assertThat(stock.label("A", "red")).isEqualTo(99));
			assertThat(stock.quantity("A")).isEqualTo(99);
			inView(context, () -> assertThatIllegalStateException().isThrownBy(() -> stock.change("A"))
				.withMessageContaining("@Transactional"));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	/** Where the isolation keeps no snapshot, nothing has to be rolled back. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false" })
	void resultOfTheViewIsReadOnAfterALockedCall(TestDatabase database, boolean autoCommit) {
		application(database).withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				for (int i = 0; i < 50; i++) {
					stock.add("S" + i, 1);
				}
				inView(context, () -> assertThat(stock.markEach(context.getBean(JdbcTemplate.class))).isEqualTo(50));
				assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections())
					.isZero();
			});
	}

	/** That transaction is still bound then, so no call can take part in it. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callbackOfATransactionCallsALockedMethodThatBeginsANewOne(boolean view) {
		application(TestDatabase.H2).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			stock.add("A", 100);
			Runnable request = () -> transaction.executeWithoutResult((status) -> {
				stock.find("A");
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThatIllegalStateException().isThrownBy(() -> stock.take("A"))
							.withMessageContaining("REQUIRES_NEW");
						stock.takeInNewTransaction("A");
					}

				});
			});
			if (view) {
				inView(context, request);
			}
			else {
				request.run();
			}
			assertThat(stock.quantity("A")).isEqualTo(99);
			assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections()).isZero();
		});
	}

	@Test
	void sessionThatIsFlushedByTheApplicationIsNotFlushed() {
		application(TestDatabase.H2).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.add("A", 100);
			assertThat(stock.preview("A")).isEqualTo(-1);
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2, false", "H2, true", "MARIADB, true", "POSTGRESQL, true" })
	void jdbcTransactionMayReadEntities(TestDatabase database, boolean view) {
		application(database).withUserConfiguration(TwoManagers.class).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			stock.add("A", 100);
			Runnable request = () -> stock.takeByJdbc("A", jdbc);
			if (view) {
				inView(context, request);
			}
			else {
				request.run();
			}
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	/** As Spring Boot has it by default. */
	private static void inView(ApplicationContext context, Runnable request) {
		OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
		view.setEntityManagerFactory(context.getBean(EntityManagerFactory.class));
		ServletWebRequest webRequest = new ServletWebRequest(new MockHttpServletRequest());
		view.preHandle(webRequest);
		try {
			request.run();
		}
		finally {
			view.afterCompletion(webRequest, null);
		}
	}

	private static ApplicationContextRunner application(TestDatabase database) {
		return LockedApplication.jdbc(database.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.withBean(PersistenceManagedTypes.class, () -> PersistenceManagedTypes.of(Stock.class.getName()))
			.withBean(StockService.class);
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		@Primary
		JpaTransactionManager transactionManager(EntityManagerFactory factory) {
			return new JpaTransactionManager(factory);
		}

		@Bean
		JdbcTransactionManager jdbcTransactionManager(HikariDataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	static class StockService {

		private final EntityManager entities;

		private final ObjectProvider<StockService> self;

		StockService(EntityManager entities, ObjectProvider<StockService> self) {
			this.entities = entities;
			this.self = self;
		}

		long count() {
			return this.entities.createQuery("select count(s) from viewed s", Long.class).getSingleResult();
		}

		Stock find(String sku) {
			return this.entities.find(Stock.class, sku);
		}

		@Transactional
		public void add(String sku, int quantity) {
			this.entities.persist(new Stock(sku, quantity));
		}

		@DistributedLock(key = "'stock:' + #sku", waitTime = "60s")
		@Transactional
		public int take(String sku) {
			return --find(sku).quantity;
		}

		@DistributedLock(key = "'stock:' + #sku", mode = LockMode.OPTIMISTIC)
		@Transactional
		public int takeOptimistically(String sku) {
			return --find(sku).quantity;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public int takeInNewTransaction(String sku) {
			return --find(sku).quantity;
		}

		@DistributedLock(key = "'stock:' + #sku")
		public void change(String sku) {
			find(sku).quantity = 1;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public int preview(String sku) {
			this.entities.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
			Stock stock = find(sku);
			stock.quantity = -1;
			return stock.quantity;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional("jdbcTransactionManager")
		public void takeByJdbc(String sku, JdbcTemplate jdbc) {
			int quantity = find(sku).quantity;
			jdbc.update("UPDATE viewed SET quantity = ?", quantity - 1);
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public int label(String sku, String label) {
			Stock stock = find(sku);
			stock.label = new Label(label);
			return --stock.quantity;
		}

		@DistributedLock(key = "'stock:' + #sku")
		public int mark(String sku, JdbcTemplate jdbc) {
			return jdbc.queryForList("SELECT quantity FROM viewed WHERE sku = ?", Integer.class, sku).get(0);
		}

		int markEach(JdbcTemplate jdbc) {
			try (Stream<?> skus = this.entities.createNativeQuery("select sku from viewed")
				.setHint("org.hibernate.fetchSize", 10)
				.getResultStream()) {
				return skus.mapToInt((sku) -> this.self.getObject().mark(sku.toString(), jdbc)).sum();
			}
		}

		@Transactional(readOnly = true)
		public int quantity(String sku) {
			return find(sku).quantity;
		}

	}

	@Entity(name = "viewed")
	static class Stock {

		@Id
		private String sku = "";

		private int quantity;

		@Convert(converter = LabelConverter.class)
		private Label label;

		Stock() {
		}

		Stock(String sku, int quantity) {
			this.sku = sku;
			this.quantity = quantity;
		}

	}

	/** Has no {@code equals}. */
	private static final class Label {

		private final String text;

		private Label(String text) {
			this.text = text;
		}

	}

	static class LabelConverter implements AttributeConverter<Label, String> {

		@Override
		public String convertToDatabaseColumn(Label label) {
			return (label != null) ? label.text : null;
		}

		@Override
		public Label convertToEntityAttribute(String text) {
			return (text != null) ? new Label(text) : null;
		}

	}

}
