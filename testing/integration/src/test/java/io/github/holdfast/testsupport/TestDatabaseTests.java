package io.github.holdfast.testsupport;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TestDatabase}.
 */
@Tag("long")
class TestDatabaseTests {

	@ParameterizedTest
	@EnumSource
	void newDatabaseAnswers(TestDatabase database) throws SQLException {
		try (HikariDataSource dataSource = database.newDatabase().dataSource(2)) {
			assertThat(query(dataSource, "select 1")).isEqualTo("1");
		}
	}

	@ParameterizedTest
	@EnumSource
	void remoteDatabaseAnswersOverTcp(TestDatabase database) throws SQLException {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port());
				HikariDataSource dataSource = access.onPort(proxy.port()).dataSource(2)) {
			assertThat(query(dataSource, "select 1")).isEqualTo("1");
			assertThat(proxy.connections()).isPositive();
		}
	}

	@ParameterizedTest
	@EnumSource
	void eachDatabaseIsEmpty(TestDatabase database) throws SQLException {
		try (HikariDataSource one = database.newDatabase().dataSource(1);
				HikariDataSource other = database.newDatabase().dataSource(1)) {
			execute(one, "create table t (id int)");
			execute(other, "create table t (id int)");
			execute(one, "insert into t values (1)");
			assertThat(query(one, "select count(*) from t")).isEqualTo("1");
			assertThat(query(other, "select count(*) from t")).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void dataOutliveThePool(TestDatabase database) throws SQLException {
		DatabaseAccess access = database.newRemoteDatabase();
		try (HikariDataSource dataSource = access.dataSource(1)) {
			execute(dataSource, "create table t (id int)");
		}
		try (HikariDataSource dataSource = access.dataSource(1)) {
			assertThat(query(dataSource, "select count(*) from t")).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void manyConnectionsAtOnce(TestDatabase database) throws SQLException {
		DatabaseAccess access = database.newRemoteDatabase();
		List<Connection> connections = new ArrayList<>();
		try {
			for (int i = 0; i < 200; i++) {
				connections.add(DriverManager.getConnection(access.url(), access.user(), access.password()));
			}
		}
		finally {
			for (Connection connection : connections) {
				connection.close();
			}
		}
		assertThat(connections).hasSize(200);
	}

	@ParameterizedTest
	@EnumSource
	void scriptRunsFromTheClassPath(TestDatabase database) throws SQLException {
		try (HikariDataSource dataSource = database.newDatabase().dataSource(1)) {
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/testsupport/script.sql");
			assertThat(query(dataSource, "select name from script_ran")).isEqualTo("yes; it did");
		}
	}

	private static void execute(DataSource dataSource, String sql) throws SQLException {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static String query(DataSource dataSource, String sql) throws SQLException {
		try (Connection connection = dataSource.getConnection();
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(sql)) {
			result.next();
			return result.getString(1);
		}
	}

}
