package io.github.holdfast.chaos;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.DatabaseAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Clients notice the faults of a database and of the network to it. */
@Tag("chaos")
class ServersTests {

	private static final String LOCK = "INSERT INTO holdfast_lock (lock_key, epoch, owner, expires_at) "
			+ "VALUES ('row-1', 1, 2, 1000000)";

	@ParameterizedTest
	@EnumSource
	void sessionsAreKilled(Database database) throws SQLException {
		for (Fault.Kind kind : new Fault.Kind[] { Fault.Kind.SESSIONS_KILLED, Fault.Kind.IDLE_SESSIONS_KILLED }) {
			try (Servers servers = servers(database);
					Connection connection = connect(servers);
					Statement statement = connection.createStatement()) {
				connection.setAutoCommit(false);
				statement.executeUpdate("UPDATE account SET version = 7");
				await().until(() -> begin(servers, kind, Fault.Place.DATABASE));
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> statement.execute("SELECT 1"));
				await().untilAsserted(() -> assertThat(number(servers, "SELECT max(version) FROM account")).isZero());
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void locksAreForgottenAndTheClockMoves(Database database) throws SQLException {
		String end = "SELECT expires_at FROM holdfast_lock";
		try (Servers servers = servers(database)) {
			assertThat(begin(servers, Fault.Kind.FORGET, Fault.Place.STORE)).isFalse();
			try (Connection connection = connect(servers); Statement statement = connection.createStatement()) {
				statement.executeUpdate((database == Database.H2) ? LOCK.replace("'row-1'", "X'01'") : LOCK);
			}
			Fault forward = new Fault(0, Fault.Kind.CLOCK_JUMP, Fault.Place.STORE, 0, 100);
			assertThat(servers.begin(forward)).isTrue();
			assertThat(number(servers, end)).isEqualTo(900_000);
			servers.end(forward);
			assertThat(number(servers, end)).isEqualTo(1_000_000);
			assertThat(begin(servers, Fault.Kind.FORGET, Fault.Place.STORE)).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void faultOfCommitsCountsIfItMeetsOne(Database database) throws SQLException {
		for (Fault.Kind kind : new Fault.Kind[] { Fault.Kind.COMMIT_LATE, Fault.Kind.COMMIT_REPLY_LOST }) {
			assumeTrue(database.suffers(kind));
			Fault fault = new Fault(0, kind, Fault.Place.DATABASE_NETWORK, 0, 0);
			try (Servers servers = servers(database);
					Connection connection = connect(servers);
					Statement statement = connection.createStatement()) {
				connection.setAutoCommit(false);
				servers.begin(fault);
				statement.executeUpdate("UPDATE account SET version = 7");
				assertThat(servers.end(fault)).isFalse();
				servers.begin(fault);
				assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
				assertThat(servers.end(fault)).isTrue();
				await()
					.untilAsserted(() -> assertThat(number(servers, "SELECT max(version) FROM account")).isEqualTo(7));
			}
		}
	}

	private static Servers servers(Database database) {
		return new Servers(new Target(Backend.JDBC, database, Isolation.READ_COMMITTED, Level.FENCE), 0);
	}

	private static boolean begin(Servers servers, Fault.Kind kind, Fault.Place place) {
		return servers.begin(new Fault(0, kind, place, 0, 0));
	}

	private static Connection connect(Servers servers) throws SQLException {
		DatabaseAccess database = servers.database(0);
		return DriverManager.getConnection(database.url(), database.user(), database.password());
	}

	private static long number(Servers servers, String sql) throws SQLException {
		try (Connection connection = connect(servers);
				Statement statement = connection.createStatement();
				ResultSet rs = statement.executeQuery(sql)) {
			rs.next();
			return rs.getLong(1);
		}
	}

}
