package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
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
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two transaction managers, the second one on a DataSource of its own: fenced if that is
 * the pool of the locks, or is said to lead to their database, and otherwise not started
 * by accident.
 */
@ExtendWith(OutputCaptureExtension.class)
class SeveralDataSourcesTests {

	private static final String SECOND = "secondTransactionManager";

	private static final String ANOTHER_POOL = "cannot be checked by the fence: "
			+ "its DataSource is not the connection pool of the locks.";

	private static final String ROUTER = "cannot be checked by the fence: "
			+ "its DataSource chooses among several connection pools.";

	// One database

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void secondPoolOfTheSameDatabaseIsFenced(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		application(main, () -> poolWithoutAutoCommit(main)).withPropertyValues(named(SECOND)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertFenced(context, "transactionManager");
			assertFenced(context, SECOND);
			assertThat(lockRows(context)).as("rows of the key").isOne();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void secondPoolOfTheSameDatabaseIsFencedAtVerify(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		application(main, () -> connections(main)).withPropertyValues("holdfast.commit-guard=verify", named(SECOND))
			.run((context) -> assertFenced(context, SECOND));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jpaOnASecondPoolOfTheSameDatabaseIsFenced(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		base(main, () -> main.dataSource(4)).withUserConfiguration(JpaManager.class)
			.withPropertyValues(named(SECOND))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertFenced(context, "transactionManager");
				EntityManagerFactory entities = context.getBean(EntityManagerFactory.class);
				assertFenced(context, SECOND, () -> {
					EntityManager manager = EntityManagerFactoryUtils.getTransactionalEntityManager(entities);
					assertThat(manager).isNotNull();
					manager.createNativeQuery("INSERT INTO work VALUES (1)").executeUpdate();
				});
			});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void secondPoolIsFencedByAFenceTable(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		withFenceTable(application(main, () -> connections(main))).withPropertyValues(named(SECOND)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertFenced(context, SECOND);
		});
	}

	@Test
	void nothingIsWrittenWhenThereIsOnePool() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		LockedApplication.jdbc(main).withUserConfiguration(WrappedManager.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(lockRows(context)).isZero();
			assertFenced(context, SECOND);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lazyConnectionsOfBootAreFenced(TestDatabase database) {
		Assumptions.assumeFalse(SpringBootVersion.getVersion().startsWith("4.0."), "Only Spring Boot 4.1 has them");
		LockedApplication.jdbc(database.newDatabase())
			.withPropertyValues("spring.datasource.connection-fetch=lazy")
			.run((context) -> {
				assertThat(context).getBean(DataSource.class).isInstanceOf(LazyConnectionDataSourceProxy.class);
				assertThat(lockRows(context)).isZero();
				assertFenced(context, "transactionManager");
			});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void readOnlyTargetInTheSameDatabaseIsAccepted(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		application(main, () -> withReadOnlyTarget(connections(main), connections(main)))
			.withPropertyValues(named(SECOND))
			.run((context) -> assertFenced(context, SECOND));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void routingToTheSameDatabaseIsFenced(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		application(main, () -> router(connections(main), connections(main))).withPropertyValues(named(SECOND))
			.run((context) -> assertFenced(context, SECOND));
	}

	@Test
	void isolationLevelRouterToTheSameDatabaseIsFenced() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		application(main, () -> isolationLevelRouter(connections(main), connections(main)))
			.withPropertyValues(named(SECOND))
			.run((context) -> assertFenced(context, SECOND));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void secondPoolNeedsNoMorePrivilegesThanLocks(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		createLockTable(main);
		DatabaseAccess user = database.newUser(main,
				List.of("GRANT SELECT, INSERT, UPDATE ON holdfast_lock TO shop_app",
						"GRANT SELECT, INSERT, UPDATE ON holdfast_renewal TO shop_app"));
		application(user, () -> connections(user))
			.withPropertyValues("holdfast.jdbc.initialize-schema=never", named(SECOND))
			.run((context) -> {
				context.getBean(LockTemplate.class)
					.run("A", () -> transaction(context, SECOND).executeWithoutResult((status) -> {
					}));
				assertThat(lockRows(context)).as("with that of the proof at the start").isEqualTo(2);
			});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void userWhoMayNotReadTheLockTableCommitsNothing(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		createLockTable(main);
		DatabaseAccess user = database.newUser(main, List.of("GRANT SELECT ON holdfast_renewal TO shop_app"));
		application(main, () -> connections(user)).withPropertyValues(named(SECOND))
			.run((context) -> assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class)
					.run("A", () -> transaction(context, SECOND).executeWithoutResult((status) -> {
					}))));
	}

	// Another database

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anotherDatabaseFailsTheStart(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		DatabaseAccess other = database.newDatabase();
		createLockTable(other);
		assertFailure(application(main, () -> connections(other)),
				"The commits of the transaction manager 'secondTransactionManager' ("
						+ JdbcTransactionManager.class.getName() + ") cannot be checked by the fence: "
						+ "its DataSource is not the connection pool of the locks.",
				"Let it work on the connection pool of the locks, name it in 'holdfast.fenced-transaction-managers' "
						+ "if it works on their database through another pool or a router, "
						+ "name it in 'holdfast.unguarded-transaction-managers' "
						+ "if nothing that locks protect is changed through it, "
						+ "or set 'holdfast.commit-guard' to 'lease' or 'verify'.");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anotherDatabaseWithoutALockTableFailsTheStart(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		DatabaseAccess other = database.newDatabase();
		assertFailure(application(main, () -> connections(other)), ANOTHER_POOL, "Let it work on");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void anotherDatabaseFailsTheStartWithAFenceTable(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		DatabaseAccess other = database.newDatabase();
		withFenceTable(LockedApplication.jdbc(other)).run((context) -> assertThat(context).hasNotFailed());
		assertFailure(withFenceTable(application(main, () -> connections(other))), ANOTHER_POOL, "Let it work on");
	}

	@Test
	void databaseOfAnotherKindFailsTheStart() {
		DatabaseAccess main = TestDatabase.POSTGRESQL.newDatabase();
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		createLockTable(other);
		assertFailure(application(main, () -> connections(other)), ANOTHER_POOL, "Let it work on");
	}

	@Test
	void anotherDatabaseThatIsUnreachableFailsTheStart() {
		assertFailure(
				application(TestDatabase.H2.newDatabase(),
						() -> new DriverManagerDataSource("jdbc:h2:mem:nowhere;IFEXISTS=TRUE")),
				ANOTHER_POOL, "Let it work on");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void routingToAnotherDatabaseFailsTheStart(TestDatabase database) {
		DatabaseAccess main = database.newDatabase();
		DatabaseAccess other = database.newDatabase();
		assertFailure(application(main, () -> new DelegatingDataSource(router(connections(main), connections(other)))),
				ROUTER, "Let it work on");
	}

	@Test
	void defaultTargetInAnotherDatabaseFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		assertFailure(application(main, () -> isolationLevelRouter(connections(main), connections(other))), ROUTER,
				"Let it work on");
	}

	@Test
	void routerBehindAnUnknownProxyIsFound() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		assertFailure(
				application(main,
						() -> new CountingDataSource(
								new LazyConnectionDataSourceProxy(router(connections(main), connections(other))))),
				ROUTER, "Let it work on");
	}

	@Test
	void routerThatChoosesByItselfFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		assertFailure(application(main, () -> new OwnRouter(connections(main))), ROUTER, "Let it work on");
	}

	@Test
	void routingOfTheLocksToSeveralDatabasesFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		createLockTable(other);
		assertFailure(
				LockedApplication.jdbc(main)
					.withBean(DataSource.class, () -> router(connections(main), connections(other))),
				"The commits of the transaction manager 'transactionManager'", ROUTER, "Let it work on");
	}

	@Test
	void readOnlyTargetInAnotherDatabaseFailsTheStart() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		assertFailure(application(main, () -> withReadOnlyTarget(connections(main), connections(other))), ANOTHER_POOL,
				"Let it work on");
	}

	@Test
	void readOnlyTargetInAnotherDatabaseOfTheSamePoolCommitsNothing() {
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		createLockTable(other);
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withBean("readOnly", DataSource.class, () -> connections(other), SeveralDataSourcesTests::onlyByName)
			.withUserConfiguration(FirstManager.class, ManagerWithReadOnlyTarget.class)
			.run((context) -> {
				assertFenced(context, SECOND);
				TransactionTemplate readOnly = transaction(context, SECOND);
				readOnly.setReadOnly(true);
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> context.getBean(LockTemplate.class)
					.run("A", () -> readOnly.executeWithoutResult((status) -> {
					})));
			});
	}

	/**
	 * The name in the list is a mistake: each commit looks for the lock where it is made.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void namedManagerOfAnotherDatabaseCommitsNothing(TestDatabase database) {
		DatabaseAccess other = database.newDatabase();
		createLockTable(other);
		application(database.newDatabase(), () -> connections(other)).withPropertyValues(named(SECOND))
			.run((context) -> assertCommitsNothing(context, LockLostException.class));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void namedManagerOfADatabaseWithoutALockTableCommitsNothing(TestDatabase database) {
		DatabaseAccess other = database.newDatabase();
		application(database.newDatabase(), () -> connections(other)).withPropertyValues(named(SECOND))
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
	void missingLockTableIsToldFirst() {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		assertFailure(
				application(main, () -> connections(main)).withPropertyValues("holdfast.jdbc.initialize-schema=never"),
				"The table 'holdfast_lock' cannot be read", "Add the script");
	}

	@Test
	void managerWhoseDataSourceIsNotKnownFailsTheStart() {
		assertFailure(
				LockedApplication.jdbc(TestDatabase.H2.newDatabase())
					.withBean(SECOND, ForeignTransactionManager.class, ForeignTransactionManager::new),
				"cannot be checked by the fence: its DataSource is not known to Spring.", "Let it work on");
	}

	// Left out

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void managerOfAnotherDatabaseThatIsListedIsNotFenced(TestDatabase database, CapturedOutput output) {
		DatabaseAccess other = database.newDatabase();
		application(database.newDatabase(), () -> connections(other)).withPropertyValues(listed(SECOND))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertFenced(context, "transactionManager");
				assertNotFenced(context, SECOND);
				assertLeaseIsChecked(context, SECOND);
			});
		assertThat(output.getOut().lines().filter((line) -> line.contains("unguarded-transaction-managers")))
			.singleElement()
			.asString()
			.contains("WARN", "'" + SECOND + "'", "at level 'lease' only");
	}

	/**
	 * Its transactions are those of the other one.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "fence", "verify", "lease" })
	void listedManagerOfTheSameConnectionFailsTheStart(String level) {
		assertFailure(
				LockedApplication.jdbc(TestDatabase.H2.newDatabase())
					.withUserConfiguration(FirstManager.class, SameConnection.class)
					.withPropertyValues(listed(SECOND), "holdfast.commit-guard=" + level),
				"'holdfast.unguarded-transaction-managers' names 'secondTransactionManager'",
				"the same DataSource as 'transactionManager'", "Remove it");
	}

	@ParameterizedTest
	@ValueSource(strings = { "fence", "verify" })
	void listedManagerGetsTheLeaseCheckAtEveryLevel(String level) {
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		application(TestDatabase.H2.newDatabase(), () -> connections(other))
			.withPropertyValues(listed(SECOND), "holdfast.commit-guard=" + level)
			.run((context) -> assertNotFenced(context, SECOND));
	}

	@ParameterizedTest
	@CsvSource({ "unguarded, fence", "unguarded, verify", "unguarded, lease", "fenced, fence", "fenced, lease" })
	void unknownNameInTheListFailsTheStart(String list, String level) {
		DatabaseAccess main = TestDatabase.H2.newDatabase();
		assertFailure(application(main, () -> connections(main)).withPropertyValues(
				"holdfast." + list + "-transaction-managers=thirdTransactionManager", "holdfast.commit-guard=" + level),
				"'holdfast." + list + "-transaction-managers' names 'thirdTransactionManager', "
						+ "but there is no transaction manager of that name.",
				"Use the names of PlatformTransactionManager beans: [secondTransactionManager, transactionManager].");
	}

	private static String listed(String name) {
		return "holdfast.unguarded-transaction-managers=" + name;
	}

	private static String named(String name) {
		return "holdfast.fenced-transaction-managers=" + name;
	}

	private static ApplicationContextRunner application(DatabaseAccess main, Supplier<DataSource> second) {
		return base(main, second).withUserConfiguration(SecondManager.class);
	}

	private static ApplicationContextRunner base(DatabaseAccess main, Supplier<DataSource> second) {
		return LockedApplication.jdbc(main)
			.withUserConfiguration(FirstManager.class)
			.withBean("second", DataSource.class, second, SeveralDataSourcesTests::onlyByName);
	}

	private static ApplicationContextRunner withFenceTable(ApplicationContextRunner application) {
		return application.withPropertyValues("holdfast.backend=local", "holdfast.commit-guard=fence",
				"holdfast.jdbc.initialize-schema=always");
	}

	private static void onlyByName(BeanDefinition definition) {
		((AbstractBeanDefinition) definition).setDefaultCandidate(false);
	}

	private static void assertFailure(ApplicationContextRunner application, String... descriptionsThenAction) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new LockConfigurationFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).as(() -> "Analysis of " + context.getStartupFailure()).isNotNull();
			int last = descriptionsThenAction.length - 1;
			assertThat(analysis.getDescription()).contains(List.of(descriptionsThenAction).subList(0, last));
			assertThat(analysis.getAction()).contains(descriptionsThenAction[last]);
		});
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

	private static void assertNotFenced(ApplicationContext context, String manager) {
		DataSource dataSource = dataSource(context, manager);
		new JdbcTemplate(dataSource).execute("CREATE TABLE work (id integer)");
		commitAfterLoss(context, manager, () -> insert(context, manager));
		assertThat(new JdbcTemplate(dataSource).queryForObject("SELECT count(*) FROM work", Long.class))
			.as("committed rows")
			.isOne();
	}

	/**
	 * Take a lock, work, and let another holder take the lock before the commit.
	 */
	private static void commitAfterLoss(ApplicationContext context, String manager, Runnable work) {
		JdbcTemplate main = context.getBean(JdbcTemplate.class);
		main.execute("CREATE TABLE IF NOT EXISTS work (id integer)");
		context.getBean(LockTemplate.class)
			.run("A", () -> transaction(context, manager).executeWithoutResult((status) -> {
				work.run();
				String table = context.containsBean("lockFenceTable") ? "holdfast_fence" : "holdfast_lock";
				assertThat(main.update("UPDATE " + table + " SET epoch = epoch + 1 WHERE owner IS NOT NULL"))
					.isPositive();
			}));
	}

	private static void assertLeaseIsChecked(ApplicationContext context, String manager) {
		LockTemplate locks = context.getBean(LockTemplate.class).withLeaseTime(Duration.ofSeconds(4));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> locks.run("B", () -> transaction(context, manager).executeWithoutResult((status) -> {
				context.getBean(JdbcTemplate.class).update("UPDATE holdfast_lock SET epoch = epoch + 1");
				LockContext lock = LockContext.current().orElseThrow();
				Awaitility.await().until(() -> !lock.isValid());
			})));
	}

	private static void insert(ApplicationContext context, String manager) {
		new JdbcTemplate(dataSource(context, manager)).update("INSERT INTO work VALUES (1)");
	}

	private static TransactionTemplate transaction(ApplicationContext context, String manager) {
		return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
	}

	private static DataSource dataSource(ApplicationContext context, String manager) {
		DataSource dataSource = context.getBean(manager, JdbcTransactionManager.class).getDataSource();
		assertThat(dataSource).isNotNull();
		return dataSource;
	}

	private static Long lockRows(ApplicationContext context) {
		Long rows = context.getBean(JdbcTemplate.class)
			.queryForObject("SELECT count(*) FROM holdfast_lock", Long.class);
		return (rows != null) ? rows : -1;
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

	private static DataSource withReadOnlyTarget(DataSource target, DataSource readOnly) {
		LazyConnectionDataSourceProxy proxy = new LazyConnectionDataSourceProxy(target);
		proxy.setReadOnlyDataSource(readOnly);
		return proxy;
	}

	private static DataSource router(DataSource a, DataSource b) {
		AbstractRoutingDataSource router = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return "a";
			}

		};
		router.setTargetDataSources(Map.of("a", a, "b", b));
		router.afterPropertiesSet();
		return router;
	}

	private static DataSource isolationLevelRouter(DataSource serializable, DataSource otherwise) {
		IsolationLevelDataSourceRouter router = new IsolationLevelDataSourceRouter();
		router.setTargetDataSources(Map.of("ISOLATION_SERIALIZABLE", serializable));
		router.setDefaultTargetDataSource(otherwise);
		router.afterPropertiesSet();
		return router;
	}

	private static LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
		LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
		factory.setDataSource(dataSource);
		factory.setManagedTypes(PersistenceManagedTypes.of());
		factory.setPersistenceUnitName("test");
		factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		return factory;
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
	static class SameConnection {

		@Bean
		JdbcTransactionManager secondTransactionManager(DataSource dataSource) {
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
	static class ManagerWithReadOnlyTarget {

		@Bean
		JdbcTransactionManager secondTransactionManager(DataSource dataSource,
				@Qualifier("readOnly") DataSource readOnly) {
			return new JdbcTransactionManager(withReadOnlyTarget(dataSource, readOnly));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JpaManager {

		@Bean
		LocalContainerEntityManagerFactoryBean entities(@Qualifier("second") DataSource dataSource) {
			return entityManagerFactory(dataSource);
		}

		@Bean
		JpaTransactionManager secondTransactionManager(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

	}

	/**
	 * A proxy of which nothing is known but that it can be unwrapped.
	 */
	static class CountingDataSource extends DelegatingDataSource {

		CountingDataSource(DataSource target) {
			super(target);
		}

	}

	static class OwnRouter extends AbstractRoutingDataSource {

		private final DataSource target;

		OwnRouter(DataSource target) {
			this.target = target;
			setTargetDataSources(Map.of());
			afterPropertiesSet();
		}

		@Override
		protected DataSource determineTargetDataSource() {
			return this.target;
		}

		@Override
		protected @Nullable Object determineCurrentLookupKey() {
			return null;
		}

	}

	/**
	 * As those of JTA, it tells nothing about its databases.
	 */
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
