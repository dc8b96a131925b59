package io.github.holdfast.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The creation of the lock table, and what the start says of tables and users that will
 * not do.
 */
class JdbcLockSchemaTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scriptThatRunsAgainKeepsTheRows(TestDatabase database) {
		try (HikariDataSource dataSource = lockTable(database, database.newDatabase())) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.update("INSERT INTO holdfast_lock (lock_key, epoch, acquired_at, expires_at) VALUES (?, 1, 1, 1)",
					"key");
			DatabaseAccess.runScript(dataSource, script(database));
			assertThat(jdbc.queryForObject("SELECT count(*) FROM holdfast_lock", Integer.class)).isOne();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void nodesThatStartAtOnceCreateTheTable(TestDatabase database) throws Exception {
		int nodes = 8;
		ExecutorService executor = Executors.newFixedThreadPool(nodes);
		try {
			for (int round = 0; round < 10; round++) {
				try (HikariDataSource dataSource = database.newDatabase().dataSource(nodes)) {
					connect(dataSource, nodes);
					CyclicBarrier start = new CyclicBarrier(nodes);
					List<Future<Boolean>> starts = new ArrayList<>();
					for (int i = 0; i < nodes; i++) {
						starts.add(executor.submit(() -> {
							start.await();
							return initializer(dataSource).initializeDatabase();
						}));
					}
					for (Future<Boolean> node : starts) {
						node.get();
					}
					assertThat(new JdbcTemplate(dataSource).queryForList("SELECT * FROM holdfast_lock")).isEmpty();
					assertThat(new JdbcTemplate(dataSource).queryForList("SELECT * FROM holdfast_renewal")).isEmpty();
				}
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@ParameterizedTest(name = "{0} without {1}")
	@MethodSource("columns")
	void tableWithoutAColumnFailsTheStartWithTheScript(TestDatabase database, String column) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource dataSource = lockTable(database, access)) {
			new JdbcTemplate(dataSource).execute("ALTER TABLE holdfast_lock DROP COLUMN " + column);
		}
		LockBackendAutoConfigurationTests.assertFailure(LockedApplication.jdbc(access),
				"The table 'holdfast_lock' cannot be read: ", "must have the columns of the script",
				"classpath:io/github/holdfast/jdbc/schema-", "CREATE TABLE IF NOT EXISTS holdfast_lock (");
	}

	static Stream<Arguments> columns() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of("owner", "holder", "epoch", "acquired_at", "expires_at", "version")
				.map((column) -> Arguments.of(database, column)));
	}

	@ParameterizedTest(name = "{0} without {1}")
	@MethodSource("columnsOfRenewals")
	void renewalsWithoutAColumnFailTheStartWithTheScript(TestDatabase database, String column) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource dataSource = lockTable(database, access)) {
			new JdbcTemplate(dataSource).execute("ALTER TABLE holdfast_renewal DROP COLUMN " + column);
		}
		LockBackendAutoConfigurationTests.assertFailure(LockedApplication.jdbc(access),
				"The table 'holdfast_renewal' cannot be read: ", "must have the columns of the script",
				"CREATE TABLE IF NOT EXISTS holdfast_renewal (");
	}

	static Stream<Arguments> columnsOfRenewals() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of("epoch", "owner", "expires_at")
				.map((column) -> Arguments.of(database, column)));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lockTableWithoutTheOneOfRenewalsFailsTheStartWithTheScript(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		dropRenewals(database, access);
		LockBackendAutoConfigurationTests.assertFailure(
				LockedApplication.jdbc(access).withPropertyValues("holdfast.jdbc.initialize-schema=never"),
				"The table 'holdfast_renewal' cannot be read: ", "Add the script ",
				"CREATE TABLE IF NOT EXISTS holdfast_renewal (");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void scriptAddsTheTableOfRenewalsToALockTable(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		dropRenewals(database, access);
		LockedApplication.jdbc(access).run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void userWhoMayNotAddTheTableOfRenewalsFailsTheStart(TestDatabase database) {
		DatabaseAccess owner = database.newDatabase();
		dropRenewals(database, owner);
		List<String> grants = new ArrayList<>(List.of("GRANT SELECT, INSERT, UPDATE ON holdfast_lock TO shop_app"));
		if (database == TestDatabase.POSTGRESQL) {
			grants.add("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
		}
		LockBackendAutoConfigurationTests.assertFailure(LockedApplication.jdbc(database.newUser(owner, grants)),
				"The script that creates the table 'holdfast_renewal' failed: ", "a user who may create tables",
				"'holdfast.jdbc.initialize-schema' to 'never'");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void userWhoMayOnlyReadRenewalsFailsTheStart(TestDatabase database) {
		DatabaseAccess owner = database.newDatabase();
		lockTable(database, owner).close();
		DatabaseAccess user = database.newUser(owner,
				List.of("GRANT SELECT, INSERT, UPDATE ON holdfast_lock TO shop_app",
						"GRANT SELECT ON holdfast_renewal TO shop_app"));
		LockBackendAutoConfigurationTests.assertFailure(
				LockedApplication.jdbc(user).withPropertyValues("holdfast.jdbc.initialize-schema=never"),
				"The table 'holdfast_renewal' cannot be written: ", "Grant SELECT, INSERT and UPDATE on it");
	}

	private static void dropRenewals(TestDatabase database, DatabaseAccess access) {
		try (HikariDataSource dataSource = lockTable(database, access)) {
			new JdbcTemplate(dataSource).execute("DROP TABLE holdfast_renewal");
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void userWhoMayOnlyReadFailsTheStart(TestDatabase database) {
		DatabaseAccess owner = database.newDatabase();
		lockTable(database, owner).close();
		DatabaseAccess reader = database.newUser(owner, List.of("GRANT SELECT ON holdfast_lock TO shop_app"));
		LockBackendAutoConfigurationTests.assertFailure(
				LockedApplication.jdbc(reader).withPropertyValues("holdfast.jdbc.initialize-schema=never"),
				"The table 'holdfast_lock' cannot be written: ", "Grant SELECT, INSERT and UPDATE on it");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void userWhoMayNotReadFailsTheStart(TestDatabase database) {
		DatabaseAccess owner = database.newDatabase();
		lockTable(database, owner).close();
		DatabaseAccess stranger = database.newUser(owner, List.of("GRANT INSERT ON holdfast_lock TO shop_app"));
		LockBackendAutoConfigurationTests.assertFailure(
				LockedApplication.jdbc(stranger).withPropertyValues("holdfast.jdbc.initialize-schema=never"),
				"The table 'holdfast_lock' cannot be read: ", "the privileges SELECT, INSERT and UPDATE on it");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void userWhoMayNotCreateTablesFailsTheStart(TestDatabase database) {
		DatabaseAccess owner = database.newDatabase();
		List<String> grants = new ArrayList<>(
				List.of("CREATE TABLE other (id integer)", "GRANT SELECT ON other TO shop_app"));
		if (database == TestDatabase.POSTGRESQL) {
			grants.add("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
		}
		DatabaseAccess user = database.newUser(owner, grants);
		LockBackendAutoConfigurationTests.assertFailure(LockedApplication.jdbc(user),
				"The script that creates the table 'holdfast_lock' failed: ", "a user who may create tables",
				"'holdfast.jdbc.initialize-schema' to 'never'");
	}

	/**
	 * Fill the pool, so that nobody waits for a connection later.
	 */
	private static void connect(HikariDataSource dataSource, int connections) throws SQLException {
		List<Connection> open = new ArrayList<>();
		for (int i = 0; i < connections; i++) {
			open.add(dataSource.getConnection());
		}
		for (Connection connection : open) {
			connection.close();
		}
	}

	private static PropertiesBasedDataSourceScriptDatabaseInitializer<LockProperties.Jdbc> initializer(
			HikariDataSource dataSource) {
		LockProperties.Jdbc properties = new LockProperties.Jdbc();
		properties.setInitializeSchema(DatabaseInitializationMode.ALWAYS);
		return new JdbcLockSchemaInitializer(dataSource, properties);
	}

	private static HikariDataSource lockTable(TestDatabase database, DatabaseAccess access) {
		HikariDataSource dataSource = access.dataSource(2);
		DatabaseAccess.runScript(dataSource, script(database));
		return dataSource;
	}

	private static String script(TestDatabase database) {
		return "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql";
	}

}
