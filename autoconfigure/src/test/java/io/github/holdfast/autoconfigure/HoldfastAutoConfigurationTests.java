package io.github.holdfast.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.transaction.GuardedManagers;
import io.github.holdfast.transaction.RowClaims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/** The choice of the backend, what the startup logs, and what it checks. */
@ExtendWith(OutputCaptureExtension.class)
class HoldfastAutoConfigurationTests {

	private static final String SKIPPED = "Lock store check skipped: no @DistributedLock method and no LockTemplate in use";

	@Test
	void onlyCandidateIsChosenAndLoggedInOneLine(CapturedOutput output) {
		LockedApplication.h2().withBean(Service.class).run((context) -> {
			assertThat(context).hasSingleBean(LockBackend.class).hasSingleBean(LockTemplate.class);
			assertThat(context).getBean(LockBackend.class).isInstanceOf(JdbcLockBackend.class);
		});
		assertThat(output.getOut().lines().filter((line) -> line.contains("io.github.holdfast"))).singleElement()
			.asString()
			.contains("INFO")
			.endsWith("Holdfast uses backend 'jdbc' (mode transaction) with commit guard 'fence' "
					+ "[prefix=holdfast:, wait=5s, lease=1m]");
	}

	@Test
	void templateOfTheApplicationBeginsWithTheConfiguredSettings() {
		LockedApplication.local().withPropertyValues("holdfast.key-prefix=shop:").run((context) -> {
			LockTemplate own = new LockTemplate(context.getBean(LockManager.class));
			LockBackend backend = context.getBean(LockBackend.class);
			own.run("k", () -> assertThat(backend.holder("shop:k")).isNotNull());
		});
	}

	@Test
	void modeThatIsNotPossibleIsNotLogged(CapturedOutput output) {
		LockedApplication.h2()
			.withPropertyValues("holdfast.commit-guard=lease", "holdfast.lease-time=90s")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(RowClaims.class));
		assertThat(output).contains("backend 'jdbc' (mode lease) with commit guard 'lease'", "lease=1m30s]");
	}

	@Test
	void managerOfAnyDeclaredTypeIsFenced() {
		LockedApplication.h2()
			.withUserConfiguration(DeclaredAsInterface.class)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(RowClaims.class));
	}

	static class DeclaredAsInterface {

		@Bean
		TransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Test
	void managerOfALaterAutoConfigurationIsFenced() {
		LockedApplication.empty()
			.withConfiguration(AutoConfigurations.of(LaterAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
					"spring.datasource.hikari.minimum-idle=1")
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(RowClaims.class));
	}

	@AutoConfiguration
	static class LaterAutoConfiguration {

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@Test
	void managerThatIsNamedButCannotBeFencedFailsTheStart() {
		assertFailure(LockedApplication.h2()
			.withBean("queue", ResourceTransactionManager.class, () -> mock(ResourceTransactionManager.class))
			.withPropertyValues("holdfast.transaction-managers.queue=fence"), "'queue'", "It has no database");
	}

	@Test
	void reactiveManagersNeedNoTable() {
		LockedApplication.h2()
			.withBean(ReactiveTransactionManager.class, () -> mock(ReactiveTransactionManager.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(RowClaims.class));
	}

	@Test
	void managerWhoseListenersWereReplacedFailsTheStart() {
		assertFailure(LockedApplication.h2().withUserConfiguration(ReplacesListeners.class), "'transactionManager'",
				"a bean has replaced them");
	}

	static class ReplacesListeners {

		ReplacesListeners(DataSourceTransactionManager manager) {
			manager.setTransactionExecutionListeners(List.of(new TransactionExecutionListener() {
			}));
		}

	}

	@Test
	void localHasNoLeaseTimeAndNoCommitGuard(CapturedOutput output) {
		LockedApplication.h2().withPropertyValues("holdfast.backend=local").run((context) -> {
			assertThat(context).getBean(LockBackend.class).isInstanceOf(LocalLockBackend.class);
			assertThat(tables(context)).isEmpty();
		});
		assertThat(output)
			.contains("Holdfast uses backend 'local' with commit guard 'lease' [prefix=holdfast:, wait=5s]");
	}

	@Test
	void severalCandidatesFailTheStartAndAreNamed() {
		assertFailure(LockedApplication.h2()
			.withBean("another", Candidate.class, () -> new Candidate(LockBackendType.REDIS, LocalLockBackend::new)),
				"Several lock backends are available: [jdbc, redis].", "Set 'holdfast.backend' to one of them.");
	}

	@Test
	void noCandidateFailsTheStartWithOneRequirementInALine() {
		assertFailure(LockedApplication.empty(), "No lock backend is available.",
				"set 'holdfast.backend' to 'local' if the application runs on one node only:\n  jdbc: spring-boot-starter-jdbc",
				"\n  zookeeper: curator-framework and a started CuratorFramework bean");
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "redis", "redisson", "etcd", "zookeeper" })
	void backendWithoutItsClientFailsTheStart(String backend) {
		assertFailure(LockedApplication.empty().withPropertyValues("holdfast.backend=" + backend),
				"The lock backend '" + backend + "' is not available.", "Add ", " bean.");
	}

	@Test
	void jdbcIsNoCandidateWithoutSpringJdbc() {
		assertFailure(LockedApplication.empty()
			.withBean(DriverManagerDataSource.class)
			.withClassLoader(new FilteredClassLoader(DataSourceUtils.class)), "No lock backend is available.");
	}

	@Test
	void unknownBackendFailsTheStart() {
		LockedApplication.h2()
			.withPropertyValues("holdfast.backend=carrier-pigeon")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("carrier-pigeon"));
	}

	@Test
	void backendOfTheUserIsUsedAndLogged(CapturedOutput output) {
		LockBackend own = new LocalLockBackend();
		LockedApplication.h2()
			.withPropertyValues("holdfast.commit-guard=lease")
			.withBean("ownBackend", LockBackend.class, () -> own)
			.run((context) -> {
				assertThat(context).getBean(LockBackend.class).isSameAs(own);
				assertThat(tables(context)).isEmpty();
			});
		assertThat(output).contains("Holdfast uses backend 'local'");
		LockedApplication.empty().withBean(LocalLockBackend.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void templateAndManagerOfTheUserAreUsed() {
		LockManager manager = new LockManager(new LocalLockBackend());
		LockTemplate template = new LockTemplate(manager);
		LockedApplication.local()
			.withBean("ownManager", LockManager.class, () -> manager)
			.withBean("ownTemplate", LockTemplate.class, () -> template)
			.run((context) -> {
				assertThat(context).getBean(LockTemplate.class).isSameAs(template);
				assertThat(context).getBean(LockManager.class).isSameAs(manager);
			});
	}

	@Test
	void templateOfAnotherLibraryIsNoObstacle() {
		LockedApplication.local()
			.withBean("lockTemplate", Object.class, Object::new)
			.run((context) -> assertThat(context).hasBean("holdfastLockTemplate").hasBean("lockTemplate"));
	}

	@Test
	void severalDataSourcesAreReportedBySpring() {
		LockedApplication.h2()
			.withBean("one", DataSource.class, DriverManagerDataSource::new)
			.withBean("two", DataSource.class, DriverManagerDataSource::new)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("one,two"));
	}

	@Test
	void missingTableFailsTheStartWithTheScript() {
		assertFailure(
				LockedApplication.h2()
					.withPropertyValues("holdfast.jdbc.initialize-schema=never")
					.withBean(Service.class),
				"The table 'holdfast_lock' cannot be read", "classpath:io/github/holdfast/jdbc/schema-h2.sql",
				"'holdfast.jdbc.initialize-schema' to 'always'", "CREATE TABLE IF NOT EXISTS holdfast_lock (",
				"lock_key   varbinary(255) NOT NULL PRIMARY KEY");
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "embedded", "always" })
	void databaseThatIsNotSupportedOrCannotBeReachedFailsTheStart(String initializeSchema) {
		assertFailure(unreachable(initializeSchema).withBean(Service.class),
				"The database of the locks could not be reached", "'spring.datasource.url'");
		assertFailure(
				LockedApplication.h2()
					.withPropertyValues("spring.datasource.url=jdbc:hsqldb:mem:other",
							"holdfast.jdbc.initialize-schema=" + initializeSchema)
					.withBean(Service.class),
				"The database 'HSQL Database Engine' cannot hold locks.", "Use PostgreSQL, MySQL, MariaDB or H2");
	}

	@Test
	void readerWhoAskedForAnotherStoreHearsWhyThereIsATable() {
		assertFailure(
				LockedApplication.h2()
					.withPropertyValues("holdfast.jdbc.initialize-schema=never")
					.withBean(LocalLockBackend.class)
					.withBean(Service.class),
				"Commit guard 'fence', the default beside a transaction manager, needs the table 'holdfast_lock'. ",
				"The table 'holdfast_lock' cannot be read", "Set 'holdfast.commit-guard' to 'lease'");
	}

	@Test
	void missingTableIsNoMatterWhereNothingUsesLocks(CapturedOutput output) {
		ApplicationContextRunner application = LockedApplication.h2()
			.withPropertyValues("holdfast.jdbc.initialize-schema=never");
		application.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce(SKIPPED);
		});
		assertFailure(application.withBean(Injected.class), "The table 'holdfast_lock' cannot be read");
		assertFailure(
				application.withBean("own", LockTemplate.class,
						() -> new LockTemplate(new LockManager(new LocalLockBackend()))),
				"The table 'holdfast_lock' cannot be read");
	}

	record Injected(LockTemplate locks) {

	}

	@ParameterizedTest
	@CsvSource({ "embedded, 1", "always, 1", "never, 0" })
	void tableIsCreatedIfThatIsAskedFor(String mode, int tables) {
		LockedApplication.h2()
			.withPropertyValues("holdfast.jdbc.initialize-schema=" + mode)
			.run((context) -> assertThat(tables(context)).hasSize(tables));
	}

	@Test
	void tableThatExistsIsKept() {
		ApplicationContextRunner application = LockedApplication.h2()
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:kept;DB_CLOSE_DELAY=-1");
		application.run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
		}));
		application.run((context) -> assertThat(context.getBean(JdbcTemplate.class)
			.queryForObject("SELECT count(*) FROM holdfast_lock WHERE lock_key = STRINGTOUTF8('holdfast:A')",
					Long.class))
			.isEqualTo(1));
	}

	@Test
	void tableOfAMigrationIsUsed() {
		LockedApplication.h2()
			.withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class))
			.withPropertyValues("holdfast.jdbc.initialize-schema=never",
					"spring.flyway.locations=classpath:io/github/holdfast/jdbc",
					"spring.flyway.sql-migration-prefix=schema-h", "spring.flyway.sql-migration-separator=.s",
					"spring.flyway.sql-migration-suffixes=ql", "spring.flyway.enabled=true")
			.withBean(Service.class)
			.run((context) -> assertThat(context.getBean(Service.class).locked("A")).containsExactly("A"));
	}

	@Test
	void databaseThatCannotBeReachedIsLoggedWhereThatIsAskedFor(CapturedOutput output) {
		unreachable("embedded").withPropertyValues("holdfast.startup-checks=warn")
			.withBean(Service.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("WARN", "The database of the locks could not be reached",
				"The lock backend 'jdbc' cannot be used: ");
	}

	private static ApplicationContextRunner unreachable(String initializeSchema) {
		return LockedApplication.h2()
			.withPropertyValues("holdfast.jdbc.initialize-schema=" + initializeSchema,
					"spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/none",
					"spring.datasource.hikari.connection-timeout=250");
	}

	@Test
	void poolThatLetsRenewalsStarveIsWarnedOfOnce(CapturedOutput output) {
		String warning = "A lease can run out while its renewal waits for a connection";
		LockedApplication.h2().withBean(Service.class).run((context) -> assertThat(output).doesNotContain(warning));
		for (String mode : List.of("transaction", "lease")) {
			LockedApplication.h2()
				.withPropertyValues("holdfast.lease-time=3s", "holdfast.jdbc.mode=" + mode)
				.withBean(Service.class)
				.run((context) -> assertThat(context).hasNotFailed());
		}
		assertThat(output.getOut().split(warning)).hasSize(3);
		assertThat(output).contains("'spring.datasource.hikari.connection-timeout' to 1000 or less");
	}

	@Test
	void rowLocksAreNotProvenWithOneConnection(CapturedOutput output) {
		LockedApplication.h2()
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1")
			.withBean(Service.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Row-lock check of the database skipped: it needs two connections");
	}

	@Test
	void checkThatIsInterruptedFailsTheStart() {
		LockedApplication.empty().withBean(LockBackend.class, () -> (request) -> {
			throw new InterruptedException();
		})
			.withBean(Service.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Startup was interrupted while a lock was taken as a check"));
		assertThat(Thread.interrupted()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void disabledApplicationHasNoStore(boolean ownBackend, CapturedOutput output) {
		ApplicationContextRunner application = LockedApplication.h2()
			.withConfiguration(AutoConfigurations.of(HoldfastActuatorAutoConfiguration.class))
			.withPropertyValues("holdfast.enabled=false", "holdfast.jdbc.initialize-schema=never",
					"management.endpoints.web.exposure.include=*")
			.withBean(Service.class);
		(ownBackend ? application.withBean(LocalLockBackend.class) : application).run((context) -> {
			assertThat(context).hasNotFailed()
				.doesNotHaveBean(Candidate.class)
				.doesNotHaveBean(LockStartup.class)
				.doesNotHaveBean(DistributedLockAdvisor.class)
				.doesNotHaveBean(GuardedManagers.class)
				.doesNotHaveBean(LockGuard.class);
			assertThat(context.getBean(Service.class).locked("A")).isEmpty();
			List<String> keys = context.getBean(LockTemplate.class).execute("A", LockedApplication::heldKeys);
			assertThat(keys).isEmpty();
			context.getBean(LockTemplate.class).acquire("A").close();
		});
		assertThat(output.getAll().lines().filter((line) -> line.contains("holdfast.enabled"))).singleElement()
			.asString()
			.contains("WARN")
			.contains("locked methods run without a lock");
	}

	@Test
	void applicationWithoutSpringJdbcLocks() {
		LockedApplication.local()
			.withClassLoader(
					new FilteredClassLoader("org.springframework.jdbc", "org.springframework.orm", "com.zaxxer.hikari",
							"io.micrometer.core", "org.springframework.boot.jdbc", "org.springframework.web",
							"org.redisson", "io.etcd", "org.apache.curator", "org.springframework.data"))
			.withBean(Injected.class)
			.run((context) -> {
				List<String> keys = context.getBean(LockTemplate.class).execute("A", LockedApplication::heldKeys);
				assertThat(keys).containsExactly("A");
			});
	}

	@Test
	void managerEndsWithItsContext() {
		List<LockTemplate> templates = new ArrayList<>();
		LockedApplication.local().run((context) -> {
			templates.add(context.getBean(LockTemplate.class));
			templates.get(0).acquire("A").close();
		});
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> templates.get(0).acquire("A"))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
	}

	@Test
	void noBeanIsCreatedTooEarly(CapturedOutput output) {
		LockedApplication.h2().withUserConfiguration(LatePostProcessor.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(LateCheck.class).seen()).contains("dataSource", "lockBackend",
					"holdfastLockTemplate", "holdfastLockManager", "lockStartup");
		});
		assertThat(output).doesNotContain("is not eligible for getting processed by all BeanPostProcessors");
	}

	private static List<?> tables(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class)
			.queryForList("SELECT table_name FROM information_schema.tables WHERE table_name = 'HOLDFAST_LOCK'");
	}

	static void assertFailure(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new LockConfigurationFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).as(() -> "Analysis of " + context.getStartupFailure()).isNotNull();
			assertThat(analysis.getDescription() + "\n" + analysis.getAction()).contains(text);
		});
	}

	static class Service {

		@DistributedLock(key = "#key")
		public List<String> locked(String key) {
			return LockedApplication.heldKeys();
		}

	}

	/** Is created last, so that beans which it does not see were created too early. */
	@Configuration(proxyBeanMethods = false)
	static class LatePostProcessor {

		@Bean
		static LateCheck lateCheck(ObjectProvider<DataSource> dataSource) {
			return new LateCheck();
		}

	}

	static class LateCheck implements BeanPostProcessor {

		private final List<String> seen = new ArrayList<>();

		List<String> seen() {
			return this.seen;
		}

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			this.seen.add(beanName);
			return bean;
		}

	}

}
