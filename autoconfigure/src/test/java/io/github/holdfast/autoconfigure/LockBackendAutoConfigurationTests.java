package io.github.holdfast.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.transaction.CommitGuardPostProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which store keeps the locks, and what the start says when this is not clear.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockBackendAutoConfigurationTests {

	private final ApplicationContextRunner withoutDatabase = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(LockBackendAutoConfiguration.class, DistributedLockAutoConfiguration.class));

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final ApplicationContextRunner withDatabase = LockedApplication.jdbc(this.database);

	// Choice

	@Test
	void templateOfAnotherLibraryIsNoObstacle() {
		LockedApplication.local().withBean("lockTemplate", Object.class, Object::new).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context).hasBean("holdfastLockTemplate").hasBean("lockTemplate");
			assertThat(context.getBean("holdfastLockTemplate")).isInstanceOf(LockTemplate.class);
		});
	}

	@Test
	void onlyCandidateIsChosenAndLogged(CapturedOutput output) {
		this.withDatabase.run((context) -> {
			assertThat(context).hasSingleBean(LockBackend.class).hasSingleBean(LockTemplate.class);
			assertThat(context.getBean(LockBackend.class)).isInstanceOf(OptimisticLockBackend.class)
				.hasToString("backend 'jdbc'");
		});
		assertThat(output).contains("Locks are kept by the backend 'jdbc'");
	}

	@Test
	void backendThatIsAskedForIsChosen() {
		this.withDatabase.withPropertyValues("holdfast.backend=local")
			.run((context) -> assertThat(context).getBean(LockBackend.class).isInstanceOf(LocalLockBackend.class));
	}

	@Test
	void candidateThatIsAskedForIsChosen() {
		this.withDatabase.withPropertyValues("holdfast.backend=jdbc")
			.run((context) -> assertThat(context).getBean(LockBackend.class).hasToString("backend 'jdbc'"));
	}

	@Test
	void severalCandidatesFailTheStartAndAreNamed() {
		assertFailure(
				this.withDatabase.withBean("another", LockBackendCandidate.class,
						() -> new LockBackendCandidate(LockBackendType.LOCAL, LocalLockBackend::new)),
				"Several lock backends are available: [jdbc, local].", "Set 'holdfast.backend' to one of them.");
	}

	@Test
	void noCandidateFailsTheStart() {
		assertFailure(this.withoutDatabase, "No lock backend is available.", "set 'holdfast.backend' to 'local'",
				"'jdbc' needs spring-jdbc on the class path and one DataSource bean");
	}

	@Test
	void localIsOnlyChosenWhenItIsAskedFor() {
		this.withoutDatabase.run((context) -> assertThat(context).hasFailed());
		this.withoutDatabase.withPropertyValues("holdfast.backend=local")
			.run((context) -> assertThat(context).getBean(LockBackend.class).isInstanceOf(LocalLockBackend.class));
	}

	@Test
	void jdbcWithoutDataSourceFailsTheStart() {
		assertFailure(this.withoutDatabase.withPropertyValues("holdfast.backend=jdbc"),
				"The lock backend 'jdbc' is asked for but not available.",
				"It needs spring-jdbc on the class path and one DataSource bean.");
	}

	@Test
	void jdbcIsNoCandidateWithoutSpringJdbc() {
		assertFailure(this.withoutDatabase.withBean(DriverManagerDataSource.class)
			.withClassLoader(new FilteredClassLoader(DataSourceUtils.class)), "No lock backend is available.");
	}

	@Test
	void unknownBackendFailsTheStart() {
		this.withDatabase.withPropertyValues("holdfast.backend=carrier-pigeon")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("carrier-pigeon"));
	}

	// Back-off

	@Test
	void backendOfTheUserIsUsed() {
		LockBackend own = new LocalLockBackend();
		this.withDatabase.withBean("ownBackend", LockBackend.class, () -> own).run((context) -> {
			assertThat(context).getBean(LockBackend.class).isSameAs(own);
			assertThat(context).doesNotHaveBean(LockBackendCandidate.class).doesNotHaveBean(Fence.class);
		});
	}

	@Test
	void backendOfTheUserNeedsNoProperty() {
		this.withoutDatabase.withBean(LocalLockBackend.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void templateOfTheUserIsUsed() {
		LockTemplate own = LockTemplate.unlocked();
		LockedApplication.local()
			.withBean("ownTemplate", LockTemplate.class, () -> own)
			.run((context) -> assertThat(context).getBean(LockTemplate.class).isSameAs(own));
	}

	// DataSources

	@Test
	void severalDataSourcesFailTheStart() {
		assertFailure(this.withDatabase.withUserConfiguration(TwoDataSources.class),
				"Several DataSource beans could have the tables of Holdfast: [one, two].",
				"Mark the one with the business data with @HoldfastDataSource, or as @Primary.");
	}

	@Test
	void primaryDataSourceIsUsed() {
		this.withDatabase.withUserConfiguration(PrimaryDataSource.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	// Lock table

	@Test
	void missingTableFailsTheStartWithTheScript() {
		assertFailure(this.withDatabase.withPropertyValues("holdfast.jdbc.initialize-schema=never"),
				"The table 'holdfast_lock' cannot be read", "classpath:io/github/holdfast/jdbc/schema-h2.sql",
				"'holdfast.jdbc.initialize-schema' to 'always'", "CREATE TABLE IF NOT EXISTS holdfast_lock (",
				"lock_key    varbinary(255) NOT NULL PRIMARY KEY");
	}

	@Test
	void templatesEndWithTheirContext() {
		List<LockTemplate> templates = new ArrayList<>();
		LockedApplication.local()
			.withBean("own", LockTemplate.class, () -> new LockTemplate(LocalLockBackend::new, List::of))
			.run((context) -> templates.add(used(context.getBean(LockTemplate.class))));
		LockedApplication.local().run((context) -> templates.add(used(context.getBean(LockTemplate.class))));
		for (LockTemplate template : templates) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> template.acquire("A"))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
		}
	}

	private static LockTemplate used(LockTemplate template) {
		template.acquire("A").close();
		return template;
	}

	@Test
	void missingTableIsNoMatterWhereNothingUsesLocks(CapturedOutput output) {
		ApplicationContextRunner application = withoutTable();
		application.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("Whether locks can be kept is not checked");
		});
		assertFailure(application.withBean(LockedBean.class), "The table 'holdfast_lock' cannot be read");
		assertFailure(
				application.withBean(LockedBean.class, LockedBean::new, (definition) -> definition.setLazyInit(true)),
				"The table 'holdfast_lock' cannot be read");
		assertFailure(application.withBean(Injected.class), "The table 'holdfast_lock' cannot be read");
		assertFailure(
				application.withBean("own", LockTemplate.class,
						() -> new LockTemplate(LocalLockBackend::new, List::of)),
				"The table 'holdfast_lock' cannot be read");
	}

	private static ApplicationContextRunner withoutTable() {
		DatabaseAccess database = TestDatabase.H2.newDatabase();
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, LockBackendAutoConfiguration.class,
					DistributedLockAutoConfiguration.class, LocksEndpointAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + database.url(),
					"spring.datasource.username=" + database.user(),
					"spring.datasource.password=" + database.password(), "holdfast.jdbc.initialize-schema=never",
					"management.endpoints.web.exposure.include=locks");
	}

	static class LockedBean {

		@DistributedLock(key = "'a'")
		public void work() {
		}

	}

	record Injected(LockTemplate locks) {

	}

	@Test
	void tableOfAnEmbeddedDatabaseIsCreatedByDefault() {
		this.withDatabase.withPropertyValues("holdfast.jdbc.initialize-schema=embedded")
			.run((context) -> assertThat(tableExists(context)).isTrue());
	}

	@Test
	void tableIsCreatedAlways() {
		this.withDatabase.withPropertyValues("holdfast.jdbc.initialize-schema=always")
			.run((context) -> assertThat(tableExists(context)).isTrue());
	}

	@Test
	void tableThatExistsIsKept() {
		this.withDatabase.run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
		}));
		this.withDatabase.run((context) -> assertThat(
				context.getBean(JdbcTemplate.class).queryForObject("SELECT count(*) FROM holdfast_lock", Long.class))
			.isEqualTo(1L));
	}

	@Test
	void tableIsNotCreatedWhenNeverAskedFor() {
		this.withDatabase.run((context) -> assertThat(context).hasNotFailed());
		this.withDatabase.withPropertyValues("holdfast.jdbc.initialize-schema=never").run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(JdbcLockSchemaInitializer.class);
		});
	}

	@Test
	void tableOfAMigrationIsUsed() {
		this.withDatabase.withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class))
			.withPropertyValues("holdfast.jdbc.initialize-schema=never",
					"spring.flyway.locations=classpath:db/holdfast")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				String result = context.getBean(LockTemplate.class).execute("A", () -> "done");
				assertThat(result).isEqualTo("done");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "embedded" })
	void databaseThatCannotBeReachedFailsTheStart(String initializeSchema) {
		assertFailure(
				this.withDatabase.withPropertyValues("holdfast.jdbc.initialize-schema=" + initializeSchema,
						"spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/none",
						"spring.datasource.hikari.connection-timeout=250"),
				"The database of the lock backend 'jdbc' could not be reached", "127.0.0.1:1",
				"'spring.datasource.url'");
	}

	// Disabled

	@Test
	void disabledApplicationHasNoStore(CapturedOutput output) {
		this.withDatabase.withPropertyValues("holdfast.enabled=false", "holdfast.jdbc.initialize-schema=never")
			.withBean(Service.class)
			.run((context) -> {
				assertThat(context).hasNotFailed()
					.doesNotHaveBean(LockBackend.class)
					.doesNotHaveBean(LockBackendCandidate.class)
					.doesNotHaveBean(TableCheck.class)
					.doesNotHaveBean(DistributedLockAdvisor.class)
					.doesNotHaveBean(CommitGuardPostProcessor.class);
				assertThat(context.getBean(Service.class).locked("A")).isEmpty();
				List<String> keys = context.getBean(LockTemplate.class).execute("A", () -> heldKeys());
				assertThat(keys).isEmpty();
			});
		assertThat(output.getAll().lines().filter((line) -> line.contains("holdfast.enabled"))).singleElement()
			.asString()
			.contains("WARN")
			.contains("locked methods run without a lock");
	}

	@Test
	void enabledApplicationLocks() {
		this.withDatabase.withPropertyValues("holdfast.enabled=true")
			.withBean(Service.class)
			.run((context) -> assertThat(context.getBean(Service.class).locked("A")).containsExactly("A"));
	}

	// Early beans

	@Test
	void advisorCreatesNoStoreBeforeOtherBeanPostProcessors() {
		this.withDatabase.withUserConfiguration(LatePostProcessor.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(LateCheck.class).seen()).contains("dataSource", "lockBackend",
					"holdfastLockTemplate");
		});
	}

	private static boolean tableExists(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class)
			.queryForList("SELECT table_name FROM information_schema.tables WHERE table_name = 'HOLDFAST_LOCK'")
			.size() == 1;
	}

	static void assertFailure(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new LockConfigurationFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).as(() -> "Analysis of " + context.getStartupFailure()).isNotNull();
			assertThat(analysis.getDescription() + "\n" + analysis.getAction()).contains(text);
		});
	}

	private static List<String> heldKeys() {
		return LockContext.current().map(LockContext::keys).orElse(List.of());
	}

	static class Service {

		@DistributedLock(key = "#key")
		public List<String> locked(String key) {
			return heldKeys();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource one() {
			return new DriverManagerDataSource("jdbc:h2:mem:one");
		}

		@Bean
		DataSource two() {
			return new DriverManagerDataSource("jdbc:h2:mem:two");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryDataSource {

		@Bean
		@Primary
		DataSource one() {
			return new DriverManagerDataSource("jdbc:h2:mem:primary;DB_CLOSE_DELAY=-1");
		}

		@Bean
		DataSource two() {
			return new DriverManagerDataSource("jdbc:h2:mem:two");
		}

	}

	/**
	 * Is created after all other post-processors of the container, so that beans which it
	 * does not see were created too early.
	 */
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
