package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.datasource.lookup.IsolationLevelDataSourceRouter;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static io.github.holdfast.autoconfigure.LockedApplication.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Two transaction managers, the second one on a DataSource of its own: fenced if that is
 * the pool of the locks, or is said to lead to their database, and otherwise not started
 * by accident.
 */
@Tag("long")
class SeveralDataSourcesTests {

	private static final String FIRST = "transactionManager";

	private static final String SECOND = "secondTransactionManager";

	private static final String ANOTHER_POOL = "cannot be guarded. It works on another DataSource than the locks.";

	@ParameterizedTest
	@EnumSource
	void secondPoolOfTheSameDatabaseIsFenced(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		application(main, () -> poolWithoutAutoCommit(main)).withPropertyValues(fence(SECOND)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertFenced(context, FIRST);
			assertFenced(context, SECOND);
		});
	}

	@ParameterizedTest
	@EnumSource
	void jpaOnASecondPoolOfTheSameDatabaseIsFenced(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		base(main, () -> main.dataSource(4)).withUserConfiguration(JpaManager.class)
			.withPropertyValues(fence(SECOND))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertFenced(context, FIRST);
				EntityManagerFactory entities = context.getBean(EntityManagerFactory.class);
				assertFenced(context, SECOND, () -> {
					EntityManager manager = EntityManagerFactoryUtils.getTransactionalEntityManager(entities);
					assertThat(manager).isNotNull();
					manager.createNativeQuery("INSERT INTO work VALUES (1)").executeUpdate();
				});
			});
	}

	@Test
	void proxiesOfSpringLeadToThePoolOfTheLocks() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withUserConfiguration(WrappedManager.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertFenced(context, SECOND);
			});
	}

	@ParameterizedTest
	@EnumSource
	void lazyConnectionsOfBootAreFenced(TestDatabase database) {
		LockedApplication.jdbc(database.newDatabase())
			.withPropertyValues("spring.datasource.connection-fetch=lazy")
			.run((context) -> {
				assertThat(context).getBean(DataSource.class).isInstanceOf(LazyConnectionDataSourceProxy.class);
				assertFenced(context, FIRST);
			});
	}

	@ParameterizedTest
	@EnumSource
	void routingToTheSameDatabaseIsFenced(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		application(main, () -> router(connections(main))).withPropertyValues(fence(SECOND))
			.run((context) -> assertFenced(context, SECOND));
	}

	@ParameterizedTest
	@EnumSource
	void anotherDatabaseFailsTheStart(TestDatabase database) {
		DatabaseAccess other = database.newDatabase();
		createLockTable(other);
		assertRefused(application(database.newDatabase(), () -> connections(other)),
				"The commits of the transaction manager 'secondTransactionManager' ("
						+ JdbcTransactionManager.class.getName() + ") " + ANOTHER_POOL,
				"Let it work on the connection pool of the locks. Otherwise set "
						+ "'holdfast.transaction-managers.secondTransactionManager: fence' if it works on the database "
						+ "of the locks, or 'holdfast.transaction-managers.secondTransactionManager: lease' if nothing "
						+ "that locks protect is changed through it.");
	}

	@Test
	void secondPoolThatIsNotNamedFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		assertRefused(application(main, () -> connections(main)), ANOTHER_POOL, "Let it work on");
		assertRefused(application(main, () -> router(connections(main))), ANOTHER_POOL, "Let it work on");
	}

	/** Behind a proxy that is not Spring's, too. */
	@Test
	void routerOfTheLocksFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		for (DataSource router : List.of(router(connections(main)), new OwnProxy(router(connections(main))))) {
			assertRefused(LockedApplication.jdbc(main).withBean(DataSource.class, () -> router),
					"The commits of the transaction manager 'transactionManager'", router.getClass().getName(),
					"so it may be a router to several databases", "'holdfast.transaction-managers.transactionManager");
		}
	}

	/** The name is a mistake: each transaction looks for the lock where it works. */
	@ParameterizedTest
	@EnumSource
	void fencedManagerOfAnotherDatabaseCommitsNothing(TestDatabase database) {
		DatabaseAccess other = database.newDatabase();
		createLockTable(other);
		application(database.newDatabase(), () -> connections(other)).withPropertyValues(fence(SECOND))
			.run((context) -> assertCommitsNothing(context, LockLostException.class));
	}

	@ParameterizedTest
	@EnumSource
	void fencedManagerOfADatabaseWithoutALockTableCommitsNothing(TestDatabase database) {
		DatabaseAccess other = database.newDatabase();
		application(database.newDatabase(), () -> connections(other)).withPropertyValues(fence(SECOND))
			.run((context) -> assertCommitsNothing(context, LockBackendException.class));
	}

	private static void assertCommitsNothing(ApplicationContext context, Class<? extends RuntimeException> exception) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource(context, SECOND));
		jdbc.execute("CREATE TABLE work (id integer)");
		assertThatExceptionOfType(exception).isThrownBy(() -> context.getBean(LockTemplate.class)
			.run("A", () -> transaction(context, SECOND).executeWithoutResult((status) -> insert(context, SECOND))));
		assertThat(jdbc.queryForObject("SELECT count(*) FROM work", Long.class)).as("committed rows").isZero();
	}

	@Test
	void managerWhoseDataSourceIsNotKnownFailsTheStart() {
		assertRefused(
				LockedApplication.jdbc(TestDatabase.H2.newDatabase())
					.withBean(SECOND, ForeignTransactionManager.class, ForeignTransactionManager::new),
				"cannot be guarded. It has no DataSource that Holdfast could find", "Let it work on");
	}

	@ParameterizedTest
	@EnumSource
	void managerOfAnotherDatabaseAtLevelLeaseIsCheckedByTheClock(TestDatabase database) {
		DatabaseAccess other = database.newDatabase();
		application(database.newDatabase(), () -> connections(other))
			.withPropertyValues("holdfast.transaction-managers." + SECOND + "=lease")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertFenced(context, FIRST);
				JdbcTemplate jdbc = new JdbcTemplate(dataSource(context, SECOND));
				jdbc.execute("CREATE TABLE work (id integer)");
				assertThatExceptionOfType(LockLostAfterWorkException.class)
					.isThrownBy(() -> commitAfterLoss(context, SECOND, () -> insert(context, SECOND)));
				assertThat(jdbc.queryForObject("SELECT count(*) FROM work", Long.class)).as("committed rows").isOne();
				LockTemplate locks = context.getBean(LockTemplate.class).withLeaseTime(Duration.ofSeconds(4));
				assertThatExceptionOfType(LockLostException.class).isThrownBy(
						() -> locks.run("B", () -> transaction(context, SECOND).executeWithoutResult((status) -> {
							takeAway(context);
							LockContext lock = LockContext.current().orElseThrow();
							await().atMost(Duration.ofSeconds(30)).until(() -> !lock.isValid());
						})));
			});
	}

	/**
	 * Its body would work in the outer transaction, which commits after the release.
	 */
	@Test
	void newTransactionOfAnotherDatabaseDoesNotSuspendOneOfTheLocks() {
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		application(TestDatabase.H2.newDatabase(), () -> connections(other)).withBean(Reports.class)
			.withPropertyValues("holdfast.transaction-managers." + SECOND + "=lease")
			.run((context) -> {
				Reports reports = context.getBean(Reports.class);
				assertThatIllegalStateException()
					.isThrownBy(() -> transaction(context, FIRST).executeWithoutResult((status) -> reports.write()))
					.withMessageContaining("is called inside a running transaction");
				assertThatIllegalStateException().isThrownBy(
						() -> transaction(context, FIRST).executeWithoutResult((first) -> transaction(context, SECOND)
							.executeWithoutResult((second) -> withoutTransaction(context, SECOND)
								.executeWithoutResult((none) -> context.getBean(LockTemplate.class).run("stock", () -> {
								})))))
					.withMessageContaining("is called inside a running transaction");
				transaction(context, SECOND).executeWithoutResult((status) -> reports.write());
				reports.write();
				assertThat(reports.written()).isEqualTo(2);
			});
	}

	@Test
	void unknownNameFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		assertRefused(application(main, () -> connections(main)).withPropertyValues(fence(SECOND), fence("third")),
				"'holdfast.transaction-managers' names 'third', but there is no such transaction manager.",
				"Use one of the bean names", FIRST, SECOND);
	}

	private static String fence(String manager) {
		return "holdfast.transaction-managers." + manager + "=fence";
	}

	private static ApplicationContextRunner application(DatabaseAccess main, Supplier<DataSource> second) {
		return base(main, second).withUserConfiguration(SecondManager.class);
	}

	private static ApplicationContextRunner base(DatabaseAccess main, Supplier<DataSource> second) {
		return LockedApplication.jdbc(main)
			.withUserConfiguration(FirstManager.class)
			.withBean("second", DataSource.class, second, SeveralDataSourcesTests::onlyByName);
	}

	private static void onlyByName(BeanDefinition definition) {
		((AbstractBeanDefinition) definition).setDefaultCandidate(false);
	}

	private static void assertFenced(ApplicationContext context, String manager) {
		assertFenced(context, manager, () -> insert(context, manager));
	}

	private static void assertFenced(ApplicationContext context, String manager, Runnable insert) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> commitAfterLoss(context, manager, insert));
		assertThat(context.getBean(JdbcTemplate.class).queryForObject("SELECT count(*) FROM work", Long.class))
			.as("committed rows")
			.isZero();
	}

	/** Another holder takes the lock before its first holder begins a transaction. */
	private static void commitAfterLoss(ApplicationContext context, String manager, Runnable work) {
		context.getBean(JdbcTemplate.class).execute("CREATE TABLE IF NOT EXISTS work (id integer)");
		context.getBean(LockTemplate.class).run("lost:" + UUID.randomUUID(), () -> {
			takeAway(context);
			transaction(context, manager).executeWithoutResult((status) -> work.run());
		});
	}

	private static void takeAway(ApplicationContext context) {
		DataSource own = new DriverManagerDataSource(context.getEnvironment().getProperty("spring.datasource.url", ""),
				context.getEnvironment().getProperty("spring.datasource.username", ""),
				context.getEnvironment().getProperty("spring.datasource.password", ""));
		assertThat(new JdbcTemplate(own)
			.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = owner + 1 WHERE expires_at > 0")).isPositive();
	}

	private static void insert(ApplicationContext context, String manager) {
		new JdbcTemplate(dataSource(context, manager)).update("INSERT INTO work VALUES (1)");
	}

	private static TransactionTemplate transaction(ApplicationContext context, String manager) {
		return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
	}

	private static TransactionTemplate withoutTransaction(ApplicationContext context, String manager) {
		TransactionTemplate template = transaction(context, manager);
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
		return template;
	}

	private static DataSource dataSource(ApplicationContext context, String manager) {
		DataSource dataSource = context.getBean(manager, JdbcTransactionManager.class).getDataSource();
		assertThat(dataSource).isNotNull();
		return dataSource;
	}

	private static void createLockTable(DatabaseAccess database) {
		LockedApplication.jdbc(database).run((context) -> assertThat(context).hasNotFailed());
	}

	private static DataSource connections(DatabaseAccess database) {
		return new DriverManagerDataSource(database.url(), database.user(), database.password());
	}

	private static HikariDataSource poolWithoutAutoCommit(DatabaseAccess database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.url());
		pool.setUsername(database.user());
		pool.setPassword(database.password());
		pool.setMaximumPoolSize(2);
		pool.setAutoCommit(false);
		return pool;
	}

	private static DataSource router(DataSource target) {
		AbstractRoutingDataSource router = new IsolationLevelDataSourceRouter();
		router.setTargetDataSources(Map.of());
		router.setDefaultTargetDataSource(target);
		router.afterPropertiesSet();
		return router;
	}

	@Configuration(proxyBeanMethods = false)
	static class FirstManager {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondManager {

		@Bean
		JdbcTransactionManager secondTransactionManager(@Qualifier("second") DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrappedManager {

		@Bean
		JdbcTransactionManager secondTransactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(new DelegatingDataSource(
					new LazyConnectionDataSourceProxy(new TransactionAwareDataSourceProxy(dataSource))));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JpaManager {

		@Bean
		LocalContainerEntityManagerFactoryBean entities(@Qualifier("second") DataSource dataSource) {
			LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
			factory.setDataSource(dataSource);
			factory.setManagedTypes(PersistenceManagedTypes.of());
			factory.setPersistenceUnitName("test");
			factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
			return factory;
		}

		@Bean
		JpaTransactionManager secondTransactionManager(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

	}

	static class Reports {

		private int written;

		@DistributedLock("'report'")
		@Transactional(transactionManager = SECOND, propagation = Propagation.REQUIRES_NEW)
		public void write() {
			this.written++;
		}

		public int written() {
			return this.written;
		}

	}

	/** A proxy that Holdfast does not know. */
	static class OwnProxy extends DelegatingDataSource {

		OwnProxy(DataSource target) {
			super(target);
		}

	}

	/** As those of JTA, it tells nothing about its databases. */
	static class ForeignTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
