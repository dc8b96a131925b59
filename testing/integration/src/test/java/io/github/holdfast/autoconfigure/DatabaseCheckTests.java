package io.github.holdfast.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.jdbc.metadata.AbstractDataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.RowLockProof;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A database that takes all statements, but does not do what they say, fails the start.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(180)
class DatabaseCheckTests {

	private static final UnaryOperator<String> UNCHANGED = (sql) -> sql;

	private static final String NOT_PROVEN = "is not proven at the start";

	private static final int NODES = 4;

	static Stream<Arguments> tablesAndSkippingClauses() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of("UPDATE SKIP LOCKED", "SHARE( MODE)? SKIP LOCKED")
				.filter((clause) -> database != TestDatabase.H2 || clause.startsWith("UPDATE"))
				.flatMap((clause) -> Stream.of("holdfast_lock", "holdfast_fence")
					.map((table) -> Arguments.of(database, table, clause))));
	}

	static Stream<Arguments> tablesAndClauses() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of(Clause.values())
				.filter((clause) -> database != TestDatabase.H2 || !clause.name().startsWith("SHARED"))
				.flatMap((clause) -> Stream.of("holdfast_lock", "holdfast_fence")
					.map((table) -> Arguments.of(database, table, clause))));
	}

	@ParameterizedTest
	@MethodSource("tablesAndClauses")
	void clauseThatIsIgnoredFailsTheStart(TestDatabase database, String table, Clause clause) {
		DatabaseAccess access = database.newDatabase().impatient();
		RewritingDataSource.in(application(access, table), clause::ignored).run((context) -> {
			assertThat(failure(context)).hasMessageContaining(table)
				.hasMessageContaining(clause.name)
				.hasMessageContaining(clause.reason)
				.hasMessageContaining(product(access));
			assertThat(rows(access, table)).isZero();
		});
		RewritingDataSource
			.in(application(access, table).withPropertyValues("holdfast.database.check-row-locks=false"),
					clause::ignored)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * As those of the commit check have to.
	 */
	@ParameterizedTest
	@MethodSource("tablesAndSkippingClauses")
	void lockThatSkipsOthersAndDoesNotStayFailsTheStart(TestDatabase database, String table, String clause) {
		application(database.newDatabase(), table)
			.withBean(ReleasingDataSource.Wrapping.class, () -> new ReleasingDataSource.Wrapping(clause))
			.run((context) -> assertThat(failure(context)).hasMessageContaining("SKIP LOCKED")
				.hasMessageContaining("locked nothing"));
	}

	@ParameterizedTest
	@EnumSource
	void databaseThatLocksRowsPassesInSilenceAndNothingIsLeft(TestDatabase database, CapturedOutput output) {
		DatabaseAccess access = database.newDatabase();
		for (String table : List.of("holdfast_lock", "holdfast_fence")) {
			RewritingDataSource.in(application(access, table), UNCHANGED).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(rows(access, table)).isZero();
			});
		}
		assertThat(output).doesNotContain(NOT_PROVEN).doesNotContain("WARN");
	}

	@ParameterizedTest
	@EnumSource
	void lockingReadsThatGoToAReplicaFailTheStart(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		application(access, "holdfast_fence").run((context) -> {
			context.getBean(JdbcTemplate.class)
				.execute("CREATE TABLE replica AS SELECT * FROM holdfast_fence WHERE 1 = 0");
			RewritingDataSource
				.in(application(access, "holdfast_fence"),
						(sql) -> sql.startsWith("SELECT epoch") ? sql.replace("holdfast_fence", "replica") : sql)
				.run((splitting) -> assertThat(failure(splitting))
					.hasMessageContaining("did not find a row that was committed just before"));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "wsrep_on:on", "group_replication_single_primary_mode:off" })
	void clusterWithSeveralWritersFailsTheStartUnlessOneIsDeclared(String variable) {
		String name = variable.split(":")[0];
		String value = variable.split(":")[1];
		UnaryOperator<String> cluster = (sql) -> sql.startsWith("SHOW GLOBAL VARIABLES")
				? "SELECT '" + name + "', '" + value + "' UNION SELECT 'group_replication_group_name', 'aaaa'" : sql;
		for (String table : List.of("holdfast_lock", "holdfast_fence")) {
			ApplicationContextRunner application = RewritingDataSource
				.in(application(TestDatabase.MARIADB.newDatabase(), table), cluster);
			application
				.run((context) -> assertThat(failure(context)).hasMessageContaining("'" + name + "' is " + value));
			application.withPropertyValues("holdfast.database.single-writer=true")
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SELECT 'wsrep_on', 'OFF' UNION SELECT 'group_replication_group_name', ''",
			"SELECT 'group_replication_single_primary_mode', 'ON' UNION SELECT 'group_replication_group_name', 'aaaa'",
			"SELECT 1, 2 FROM dual WHERE 1 = 0" })
	void clusterWithOneWriterStarts(String variables) {
		RewritingDataSource
			.in(application(TestDatabase.MARIADB.newDatabase(), "holdfast_lock"),
					(sql) -> sql.startsWith("SHOW GLOBAL VARIABLES") ? variables : sql)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void databaseThatDoesNotTellItsVariablesFailsTheStartUnlessOneWriterIsDeclared() {
		ApplicationContextRunner application = RewritingDataSource.in(
				application(TestDatabase.MARIADB.newDatabase(), "holdfast_lock"),
				(sql) -> sql.startsWith("SHOW GLOBAL VARIABLES") ? "SHOW NOTHING" : sql);
		application.run((context) -> assertThat(failure(context)).hasMessageContaining("single-writer: true"));
		application.withPropertyValues("holdfast.database.single-writer=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void sessionThatChangesNoRowsWithoutTheirKeysStarts() {
		for (String table : List.of("holdfast_lock", "holdfast_fence")) {
			application(TestDatabase.MARIADB.newDatabase(), table)
				.withPropertyValues("spring.datasource.hikari.connection-init-sql=SET SESSION sql_safe_updates = 1")
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	/**
	 * Of Commons DBCP, {@code max-total} is -1 then.
	 */
	@Test
	void poolWithoutALimitIsLargeEnough(CapturedOutput output) {
		application(TestDatabase.POSTGRESQL.newDatabase(), "holdfast_lock")
			.withBean(DataSourcePoolMetadataProvider.class, () -> Unlimited::new)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(LockTemplate.class)
					.withMode(LockMode.SHARED)
					.withWaitTime(Duration.ZERO)
					.run("stock", Thread::yield);
			});
		assertThat(output).doesNotContain(NOT_PROVEN);
	}

	/**
	 * Who reads the whole of a small table collides with each other.
	 */
	@Test
	void nodesThatStartTogetherAtSerializableStart() throws Exception {
		DatabaseAccess access = TestDatabase.POSTGRESQL.newDatabase();
		try (HikariDataSource pool = access.dataSource(2 * NODES)) {
			DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/schema-postgresql.sql");
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			jdbc.update("INSERT INTO holdfast_fence (source, lock_key, epoch, owner) VALUES ('a', 'b', 1, 'c')");
			jdbc.execute("VACUUM ANALYZE holdfast_fence");
		}
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(access.url());
		config.setUsername(access.user());
		config.setPassword(access.password());
		config.setMaximumPoolSize(2 * NODES);
		config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		try (HikariDataSource pool = new HikariDataSource(config)) {
			proveTogether(pool, 50);
		}
		assertThat(rows(access, "holdfast_fence")).isOne();
	}

	/**
	 * It would wait for itself.
	 */
	@Test
	void poolWithOneConnectionStarts(CapturedOutput output) {
		application(TestDatabase.H2.newDatabase(), "holdfast_lock")
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.connection-timeout=600000", "holdfast.lease-time=1h")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("'holdfast_lock' " + NOT_PROVEN);
	}

	@Test
	void poolWithoutAnotherConnectionStarts(CapturedOutput output) {
		application(TestDatabase.H2.newDatabase(), "holdfast_lock")
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2",
					"spring.datasource.hikari.connection-timeout=300")
			.withUserConfiguration(Greedy.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("'holdfast_lock' " + NOT_PROVEN);
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void userWhoMayNotDeleteLeavesOneRowForAllStarts(TestDatabase database) throws Exception {
		DatabaseAccess owner = database.newDatabase();
		try (HikariDataSource pool = owner.dataSource(1)) {
			DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		}
		DatabaseAccess user = database.newUser(owner,
				List.of("GRANT SELECT, INSERT, UPDATE ON holdfast_fence TO shop_app"));
		try (HikariDataSource pool = user.dataSource(2 * NODES)) {
			proveTogether(pool, 10);
		}
		assertThat(rows(owner, "holdfast_fence")).isOne();
	}

	private static void proveTogether(DataSource pool, int times) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(NODES);
		try {
			Callable<Void> starts = () -> {
				for (int i = 0; i < times; i++) {
					new RowLockProof(() -> pool, new FenceTable(() -> pool, "check").fence()).run();
				}
				return null;
			};
			for (Future<Void> proof : threads.invokeAll(Collections.nCopies(NODES, starts))) {
				proof.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static ApplicationContextRunner application(DatabaseAccess access, String table) {
		ApplicationContextRunner application = LockedApplication.jdbc(access);
		return table.equals("holdfast_lock") ? application.withPropertyValues("holdfast.backend=jdbc")
				: application.withPropertyValues("holdfast.backend=local", "holdfast.commit-guard=fence",
						"holdfast.jdbc.initialize-schema=always");
	}

	private static Throwable failure(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		Throwable failure = context.getStartupFailure();
		while (!(failure instanceof LockConfigurationException)) {
			assertThat(failure).isNotNull();
			failure = failure.getCause();
		}
		return failure;
	}

	private static String product(DatabaseAccess access) {
		try (HikariDataSource pool = access.dataSource(1); Connection connection = pool.getConnection()) {
			return connection.getMetaData().getDatabaseProductName();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long rows(DatabaseAccess access, String table) {
		try (HikariDataSource pool = access.dataSource(1)) {
			return new JdbcTemplate(pool).queryForObject("SELECT count(*) FROM " + table, Long.class);
		}
	}

	/**
	 * What a database may take and ignore.
	 */
	enum Clause {

		EXCLUSIVE("FOR UPDATE", "locked nothing", "\\s+FOR UPDATE( NOWAIT| SKIP LOCKED)?"),

		SKIPPING("SKIP LOCKED", "instead of skipping it", "\\s+SKIP LOCKED"),

		/** As TiDB does. */
		EXCLUSIVE_SKIPPING("FOR UPDATE SKIP LOCKED' locked nothing", "", "\\s+FOR UPDATE SKIP LOCKED"),

		EXCLUSIVE_WAITING("FOR UPDATE' locked nothing", "", "\\s+FOR UPDATE$"),

		SHARED("SHARE", "locked nothing", "\\s+(FOR SHARE|LOCK IN SHARE MODE)( SKIP LOCKED)?"),

		SHARED_WAITING("SHARE", "' locked nothing", "\\s+(FOR SHARE|LOCK IN SHARE MODE)$");

		private final String name;

		private final String reason;

		private final Pattern pattern;

		Clause(String name, String reason, String pattern) {
			this.name = name;
			this.reason = reason;
			this.pattern = Pattern.compile(pattern);
		}

		private String ignored(String sql) {
			return sql.startsWith("SELECT") ? this.pattern.matcher(sql).replaceAll("") : sql;
		}

	}

	private static final class Unlimited extends AbstractDataSourcePoolMetadata<DataSource> {

		private Unlimited(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		public Integer getActive() {
			return 0;
		}

		@Override
		public Integer getMax() {
			return -1;
		}

		@Override
		public Integer getMin() {
			return 0;
		}

		@Override
		public String getValidationQuery() {
			return "SELECT 1";
		}

		@Override
		public Boolean getDefaultAutoCommit() {
			return true;
		}

	}

	/**
	 * Has a connection of the pool for as long as the application runs.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Greedy {

		@Bean(destroyMethod = "close")
		Connection taken(DataSource dataSource) throws SQLException {
			return dataSource.getConnection();
		}

	}

}
