package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * H2 knows only time-outs of sessions: one that a statement of a lock had would end the
 * slow queries that the application sends on the same connection later.
 */
@Timeout(120)
class SessionTimeoutTests {

	private static final int CONNECTIONS = 4;

	@ParameterizedTest
	@ValueSource(strings = { "holdfast.backend=jdbc", "holdfast.backend=jdbc,holdfast.jdbc.mode=lease",
			"holdfast.backend=local,holdfast.commit-guard=fence,holdfast.jdbc.initialize-schema=always" })
	void connectionsOfTheApplicationKeepNoTimeoutOfALock(String properties) {
		ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withBean(Sales.class)
			.withPropertyValues(properties.split(","))
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=" + CONNECTIONS);
		application.run((context) -> {
			Sales sales = context.getBean(Sales.class);
			DataSource pool = context.getBean(DataSource.class);
			assertThat(timeouts(pool)).containsOnly(0);
			for (int i = 0; i < 2 * CONNECTIONS; i++) {
				assertThat(sales.sell("pen")).isOne();
				assertThat(sales.sellOptimistically("ink")).isOne();
				sales.sellWithTimeout("cap");
			}
			assertThat(timeouts(pool)).containsOnly(0);
		});
	}

	private static List<Integer> timeouts(DataSource pool) throws SQLException {
		List<Connection> connections = new ArrayList<>();
		try {
			List<Integer> timeouts = new ArrayList<>();
			for (int i = 0; i < CONNECTIONS; i++) {
				Connection connection = pool.getConnection();
				connections.add(connection);
				try (Statement statement = connection.createStatement()) {
					timeouts.add(statement.getQueryTimeout());
				}
			}
			return timeouts;
		}
		finally {
			for (Connection connection : connections) {
				connection.close();
			}
		}
	}

	static class Sales {

		private final JdbcTemplate jdbc;

		Sales(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "#sku")
		@Transactional
		public int sell(String sku) {
			return this.jdbc.queryForObject("SELECT 1", Integer.class);
		}

		/**
		 * What a template sends would have the rest of the time-out, and leave it there.
		 */
		@DistributedLock(key = "#sku")
		@Transactional(timeout = 60)
		public void sellWithTimeout(String sku) {
		}

		@DistributedLock(key = "#sku", mode = LockMode.OPTIMISTIC)
		@Transactional
		public int sellOptimistically(String sku) {
			return this.jdbc.queryForObject("SELECT 1", Integer.class);
		}

	}

}
