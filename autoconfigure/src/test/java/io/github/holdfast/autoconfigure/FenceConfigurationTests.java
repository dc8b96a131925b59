package io.github.holdfast.autoconfigure;

import java.util.List;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The level {@code fence} with a backend outside of the business database.
 */
class FenceConfigurationTests {

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final ApplicationContextRunner application = LockedApplication.jdbc(this.database)
		.withPropertyValues("holdfast.backend=local", "holdfast.commit-guard=fence");

	@Test
	void holdersAreInstalledAndChecked() {
		this.application.run((context) -> {
			assertThat(context).hasNotFailed();
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE work (id integer)");
			work(context, () -> {
			});
			assertThat(sources(jdbc)).containsExactly("local");
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> work(context, () -> jdbc.update("UPDATE holdfast_fence SET epoch = epoch + 1")));
			assertThat(jdbc.queryForObject("SELECT count(*) FROM work", Long.class)).isEqualTo(1);
		});
	}

	@Test
	void sourceCanBeNamed() {
		this.application.withPropertyValues("holdfast.fence.source=redis-eu").run((context) -> {
			context.getBean(LockTemplate.class).run("A", () -> {
			});
			assertThat(sources(context.getBean(JdbcTemplate.class))).containsExactly("redis-eu");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "verify" })
	void otherLevelsNeedNoFenceTable(String level) {
		this.application.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.fence.initialize-schema=always")
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(FenceTable.class).doesNotHaveBean(Fence.class);
				assertThat(tables(context)).isEmpty();
			});
	}

	@Test
	void lockTableIsAFenceItself() {
		this.application.withPropertyValues("holdfast.backend=jdbc").run((context) -> {
			assertThat(context).hasNotFailed().hasSingleBean(Fence.class).doesNotHaveBean(FenceTable.class);
			assertThat(tables(context)).isEmpty();
		});
	}

	@Test
	void missingDataSourceFailsTheStart() {
		LockBackendAutoConfigurationTests.assertFailure(
				LockedApplication.local().withPropertyValues("holdfast.commit-guard=fence"),
				"There is no DataSource bean for the tables of Holdfast.", "'holdfast.commit-guard' to 'lease'");
	}

	@Test
	void severalDataSourcesFailTheStart() {
		LockBackendAutoConfigurationTests.assertFailure(
				this.application.withBean("one", DataSource.class, DriverManagerDataSource::new)
					.withBean("two", DataSource.class, DriverManagerDataSource::new),
				"Several DataSource beans could have the tables of Holdfast: [one, two].", "@HoldfastDataSource");
	}

	@Test
	void missingSupportForDatabasesFailsTheStart() {
		LockBackendAutoConfigurationTests.assertFailure(
				LockedApplication.local()
					.withPropertyValues("holdfast.commit-guard=fence")
					.withClassLoader(new FilteredClassLoader(DataSourceUtils.class)),
				"needs a table in the business database", "'spring-boot-starter-jdbc'");
	}

	@Test
	void missingTableFailsTheStartWithTheScript() {
		LockBackendAutoConfigurationTests.assertFailure(
				this.application.withPropertyValues("holdfast.fence.initialize-schema=never"),
				"The table 'holdfast_fence' cannot be read", "classpath:io/github/holdfast/jdbc/fence-schema-h2.sql",
				"'holdfast.fence.initialize-schema' to 'always'", "CREATE TABLE IF NOT EXISTS holdfast_fence (");
	}

	@Test
	void tableOfAMigrationIsUsed() {
		this.application.withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class))
			.withPropertyValues("holdfast.fence.initialize-schema=never", "spring.flyway.locations=classpath:db/fence")
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(FenceSchemaInitializer.class);
				context.getBean(LockTemplate.class).run("A", () -> {
				});
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "embedded" })
	void databaseThatCannotBeReachedFailsTheStart(String initializeSchema) {
		LockBackendAutoConfigurationTests.assertFailure(
				this.application.withPropertyValues("holdfast.fence.initialize-schema=" + initializeSchema,
						"spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/none",
						"spring.datasource.hikari.connection-timeout=250"),
				"The database of the fence could not be reached", "127.0.0.1:1", "'spring.datasource.url'");
	}

	private static void work(ApplicationContext context, Runnable whileHeld) {
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		context.getBean(LockTemplate.class).run("A", () -> {
			whileHeld.run();
			transaction.executeWithoutResult(
					(status) -> context.getBean(JdbcTemplate.class).update("INSERT INTO work VALUES (1)"));
		});
	}

	private static List<String> sources(JdbcTemplate jdbc) {
		return jdbc.queryForList("SELECT UTF8TOSTRING(source) FROM holdfast_fence", String.class);
	}

	private static List<String> tables(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class)
			.queryForList("SELECT table_name FROM information_schema.tables WHERE table_name = 'HOLDFAST_FENCE'",
					String.class);
	}

}
