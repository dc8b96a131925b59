package io.github.holdfast.testsupport;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RoundTrips} and {@link DurableCommits}.
 */
class RoundTripsTests {

	/**
	 * MariaDB is told when a transaction begins, PostgreSQL with the first statement.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,MARIADB,5", "POSTGRESQL,POSTGRESQL,3" })
	void transactionIsCounted(TestDatabase kind, WireProtocol protocol, int expected) throws SQLException {
		DatabaseAccess database = kind.newDatabase();
		try (FaultProxy proxy = new FaultProxy(database.port())) {
			RoundTrips trips = new RoundTrips(proxy, protocol);
			try (Connection connection = open(database.onPort(proxy.port()))) {
				execute(connection, "CREATE TABLE stock (sku integer PRIMARY KEY, quantity integer)");
				// Drivers prepare on the server what is executed often
				for (int i = 0; i < 10; i++) {
					trips.clear();
					connection.setAutoCommit(false);
					insert(connection, i);
					execute(connection, "UPDATE stock SET quantity = quantity - 1");
					connection.commit();
					connection.setAutoCommit(true);
					assertThat(trips.list()).hasSize(expected).anyMatch((sql) -> sql.contains("INSERT INTO stock"));
				}
				trips.clear();
				assertThat(connection.isValid(1)).isTrue();
				assertThat(trips.count()).as("ping").isZero();
			}
		}
	}

	@Test
	void commandsThatAreSentTogetherAreOne() {
		RedisServer redis = RedisServer.shared();
		try (FaultProxy proxy = new FaultProxy(redis.port())) {
			RoundTrips trips = new RoundTrips(proxy, WireProtocol.REDIS);
			try (Jedis jedis = new Jedis("127.0.0.1", proxy.port())) {
				jedis.ping();
				trips.clear();
				jedis.set("round-trips", "1");
				jedis.get("round-trips");
				try (Pipeline pipeline = jedis.pipelined()) {
					pipeline.get("round-trips");
					pipeline.del("round-trips");
				}
				assertThat(trips.list()).containsExactly("SET round-trips 1", "GET round-trips",
						"GET round-trips | DEL round-trips");
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void onlyWhatHasWrittenIsDurable(TestDatabase kind) throws SQLException {
		DatabaseAccess database = kind.newDatabase();
		try (DurableCommits commits = DurableCommits.of(kind, database); Connection connection = open(database)) {
			execute(connection, "CREATE TABLE stock (sku integer PRIMARY KEY, quantity integer)");
			long before = commits.count();
			insert(connection, 1);
			connection.setAutoCommit(false);
			execute(connection, "SELECT quantity FROM stock");
			connection.commit();
			execute(connection, "UPDATE stock SET quantity = 0 WHERE sku = 7");
			connection.commit();
			insert(connection, 2);
			execute(connection, "UPDATE stock SET quantity = quantity - 1");
			connection.commit();
			assertThat(commits.count() - before).isEqualTo(2);
		}
	}

	private static Connection open(DatabaseAccess database) throws SQLException {
		return DriverManager.getConnection(database.url(), database.user(), database.password());
	}

	private static void insert(Connection connection, int sku) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("INSERT INTO stock VALUES (?, 100)")) {
			statement.setInt(1, sku);
			statement.executeUpdate();
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
