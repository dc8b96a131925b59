package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections of locks switch their auto-commit mode late, which nobody may notice.
 */
class SessionAutoCommitTests {

	private static final String UPDATE = "UPDATE stock SET quantity = quantity - 1 WHERE sku = 'A'";

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionsInARowNeedNoSwitch(boolean autoCommit) {
		run(TestDatabase.MARIADB, autoCommit, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			String first = inTransaction(context, () -> switches(context));
			String second = inTransaction(context, () -> switches(context));
			String rolledBack = rolledBack(context, () -> switches(context));
			String last = inTransaction(context, () -> switches(context));
			assertThat(second).isEqualTo(first);
			assertThat(rolledBack).isEqualTo(first);
			assertThat(last).isEqualTo(first);
		}));
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void statementOutsideOfATransactionIsCommittedAtOnce(TestDatabase database) {
		run(database, true, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			inTransaction(context, () -> jdbc(context).update(UPDATE));
			jdbc(context).update(UPDATE);
			assertThat(quantityForOthers(context)).isEqualTo(98);
			inTransaction(context, () -> jdbc(context).update(UPDATE));
			assertThat(quantityForOthers(context)).isEqualTo(97);
		}));
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void switchingOnCommitsWhatWasDone(TestDatabase database, boolean autoCommit) {
		run(database, autoCommit, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			onConnection(context, (connection) -> {
				try (PreparedStatement statement = connection.prepareStatement(UPDATE)) {
					assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
					connection.setAutoCommit(false);
					statement.executeUpdate();
					assertThat(quantityForOthers(context)).isEqualTo(100);
					connection.setAutoCommit(true);
					assertThat(connection.getAutoCommit()).isTrue();
					assertThat(quantityForOthers(context)).isEqualTo(99);
					statement.executeUpdate();
				}
			});
			assertThat(quantityForOthers(context)).isEqualTo(98);
		}));
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void whatWasNotCommittedIsRolledBack(TestDatabase database, boolean autoCommit) {
		run(database, autoCommit, (context) -> {
			context.getBean(LockTemplate.class).run("stock:A", () -> {
				inTransaction(context, () -> jdbc(context).update(UPDATE));
				onConnection(context, (connection) -> {
					connection.setAutoCommit(false);
					update(connection);
				});
			});
			assertThat(quantityForOthers(context)).isEqualTo(99);
		});
	}

	/**
	 * The statement could be executed while the wrapper of the connection looks away.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void statementFromATransactionCommitsAtOnceAfterIt(TestDatabase database, boolean autoCommit) {
		run(database, autoCommit, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			inTransaction(context, () -> jdbc(context).update(UPDATE));
			onConnection(context, (connection) -> {
				connection.setAutoCommit(false);
				try (PreparedStatement statement = connection.prepareStatement(UPDATE)) {
					statement.executeUpdate();
					connection.commit();
					connection.setAutoCommit(true);
					statement.executeUpdate();
					assertThat(quantityForOthers(context)).isEqualTo(97);
					connection.setAutoCommit(false);
					statement.executeUpdate();
					connection.rollback();
				}
			});
			assertThat(quantityForOthers(context)).isEqualTo(97);
		}));
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false" })
	void savepointIsNoEndOfATransaction(TestDatabase database, boolean autoCommit) {
		run(database, autoCommit, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			onConnection(context, (connection) -> {
				connection.setAutoCommit(false);
				update(connection);
				Savepoint savepoint = connection.setSavepoint();
				connection.rollback(savepoint);
				connection.setAutoCommit(true);
			});
			assertThat(quantityForOthers(context)).isEqualTo(99);
		}));
	}

	/**
	 * The driver of PostgreSQL restores it by a statement, which is rolled back with a
	 * transaction that it is in.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void schemaIsRestoredOutsideOfATransaction(boolean autoCommit) {
		run(TestDatabase.POSTGRESQL, autoCommit, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			String schema = inTransaction(context, () -> schema(context));
			onConnection(context, (connection) -> {
				connection.setAutoCommit(false);
				connection.setSchema("elsewhere");
				connection.commit();
			});
			rolledBack(context, () -> schema(context));
			assertThat(inTransaction(context, () -> schema(context))).isEqualTo(schema);
		}));
	}

	@Test
	void whatIsSwitchedOffBySqlIsRolledBackAndSwitchedOnAgain() {
		run(TestDatabase.MARIADB, true, (context) -> context.getBean(LockTemplate.class).run("stock:A", () -> {
			inTransaction(context, () -> jdbc(context).update(UPDATE));
			switchOffBySql(context, (connection) -> {
			});
			assertThat(quantityForOthers(context)).isEqualTo(99);
			switchOffBySql(context, Connection::rollback);
			assertThat(quantityForOthers(context)).isEqualTo(99);
			jdbc(context).update(UPDATE);
			assertThat(quantityForOthers(context)).isEqualTo(98);
		}));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void poolGetsItsConnectionBackAsItWas(boolean autoCommit) {
		run(TestDatabase.MARIADB, autoCommit, (context) -> {
			context.getBean(LockTemplate.class)
				.run("stock:A", () -> inTransaction(context, () -> jdbc(context).update(UPDATE)));
			assertThat(jdbc(context).queryForObject("SELECT @@autocommit", Boolean.class)).isEqualTo(autoCommit);
		});
	}

	private static void run(TestDatabase database, boolean autoCommit, Consumer<ApplicationContext> test) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource others = access.dataSource(1)) {
			StockService stock = new StockService(new JdbcTemplate(others));
			LockedApplication.jdbc(access)
				.withBean("others", StockService.class, () -> stock)
				.withPropertyValues("holdfast.jdbc.mode=session", "holdfast.jdbc.purge-after=0",
						"spring.datasource.hikari.auto-commit=" + autoCommit)
				.run(test::accept);
		}
	}

	private static void onConnection(ApplicationContext context, Use use) {
		try (Connection connection = context.getBean(DataSource.class).getConnection()) {
			use.of(connection);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void update(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.executeUpdate(UPDATE);
		}
	}

	private static void switchOffBySql(ApplicationContext context, Use use) {
		onConnection(context, (connection) -> {
			try (Statement statement = connection.createStatement()) {
				statement.execute("SET autocommit = 0");
			}
			update(connection);
			use.of(connection);
		});
	}

	private static <T> T inTransaction(ApplicationContext context, Supplier<T> body) {
		return transaction(context).execute((status) -> body.get());
	}

	private static <T> T rolledBack(ApplicationContext context, Supplier<T> body) {
		return transaction(context).execute((status) -> {
			status.setRollbackOnly();
			return body.get();
		});
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static JdbcTemplate jdbc(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class);
	}

	/**
	 * How often the session has been told of a setting.
	 */
	private static String switches(ApplicationContext context) {
		return jdbc(context).queryForObject("SHOW SESSION STATUS LIKE 'Com_set_option'",
				(rs, row) -> rs.getString("Value"));
	}

	private static String schema(ApplicationContext context) {
		return jdbc(context).queryForObject("SELECT current_schemas(false)::text", String.class);
	}

	private static int quantityForOthers(ApplicationContext context) {
		return context.getBean("others", StockService.class).quantity("A");
	}

	@FunctionalInterface
	private interface Use {

		void of(Connection connection) throws SQLException;

	}

}
