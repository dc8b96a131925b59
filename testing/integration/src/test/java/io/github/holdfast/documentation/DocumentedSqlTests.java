package io.github.holdfast.documentation;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** Each statement in the pages can be executed, on at least one database. */
class DocumentedSqlTests {

	static List<Documentation.Block> blocks() throws IOException {
		return Documentation.blocks("sql");
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void statementsCanBeExecuted(Documentation.Block block) {
		List<String> failures = new ArrayList<>();
		for (TestDatabase database : TestDatabase.values()) {
			try (HikariDataSource dataSource = database.newDatabase().dataSource(1)) {
				execute(database, dataSource, block.text());
			}
			catch (SQLException ex) {
				failures.add(database + ": " + ex.getMessage());
			}
		}
		assertThat(failures).hasSizeLessThan(TestDatabase.values().length);
	}

	private static void execute(TestDatabase database, DataSource dataSource, String sql) throws SQLException {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("io/github/holdfast/jdbc/schema-" + database.platform() + ".sql"));
			connection.setAutoCommit(false);
			if (database == TestDatabase.POSTGRESQL) {
				statement.execute("CREATE ROLE shop_app");
			}
			for (String each : sql.split(";")) {
				if (!each.isBlank()) {
					statement.execute(each);
				}
			}
			connection.rollback();
		}
	}

}
