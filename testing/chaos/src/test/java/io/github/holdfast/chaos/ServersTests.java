package io.github.holdfast.chaos;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Each fault of the database, and of the network to it, is seen by the nodes.
 */
@Tag("chaos")
class ServersTests {

	private static final String LOCK = "INSERT INTO holdfast_lock (lock_key, epoch, owner, acquired_at, expires_at) "
			+ "VALUES ('row-1', 1, 'somebody', 0, 1000000)";

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void sessionsAreKilled(TestDatabase database) throws SQLException {
		try (Servers servers = servers(database)) {
			assertThat(begin(servers, Fault.Kind.SESSIONS_KILLED)).isFalse();
			try (Connection connection = connect(servers); Statement statement = connection.createStatement()) {
				assertThat(begin(servers, Fault.Kind.SESSIONS_KILLED)).isTrue();
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> statement.execute("SELECT 1"));
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void sessionsAreKilledThatAreIdleInATransaction(TestDatabase database) throws SQLException {
		try (Servers servers = servers(database);
				Connection connection = connect(servers);
				Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			statement.executeUpdate("UPDATE account SET version = 7");
			await().until(() -> begin(servers, Fault.Kind.IDLE_SESSIONS_KILLED));
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
			await().untilAsserted(() -> assertThat(number(servers, "SELECT max(version) FROM account")).isZero());
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void locksAreForgotten(TestDatabase database) throws SQLException {
		try (Servers servers = servers(database)) {
			assertThat(begin(servers, Fault.Kind.FORGET)).isFalse();
			execute(servers, LOCK);
			assertThat(begin(servers, Fault.Kind.FORGET)).isTrue();
			assertThat(number(servers, "SELECT count(*) FROM holdfast_lock")).isZero();
		}
	}

	/**
	 * An application whose locks were not where the machine looks would leave nothing.
	 */
	@ParameterizedTest
	@EnumSource
	void lockIsAmongWhatIsLeftWhileItIsHeldAndCanBeForgotten(Backend backend) {
		assumeTrue(backend.isAvailable());
		Target target = new Target(backend, TestDatabase.POSTGRESQL, Isolation.READ_COMMITTED, Level.FENCE);
		try (Servers servers = new Servers(target, 0)) {
			backend.application(servers.database(0), servers.store(0), 2000)
				.withPropertyValues("holdfast.lease-time=2s", "logging.level.root=off")
				.run((context) -> {
					LockTemplate locks = context.getBean(LockTemplate.class);
					assertThat(servers.leftovers()).isEmpty();
					locks.run("row-1", () -> assertThat(servers.leftovers()).isNotEmpty());
					await().until(() -> servers.leftovers().isEmpty());
					assertThat(begin(servers, Fault.Kind.FORGET))
						.isEqualTo(backend.isInDatabase() || backend.isRedis());
					try {
						locks.run("row-1", () -> assertThat(begin(servers, Fault.Kind.FORGET)).isTrue());
					}
					catch (LockLostAfterWorkException ex) {
						// The holder has noticed
					}
					await().until(() -> servers.leftovers().isEmpty());
				});
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void clockGoesForwardAndBack(TestDatabase database) throws SQLException {
		String end = "SELECT expires_at FROM holdfast_lock";
		try (Servers servers = servers(database)) {
			execute(servers, LOCK);
			Fault forward = new Fault(0, Fault.Kind.CLOCK_JUMP, 0, 100);
			assertThat(servers.begin(forward)).isTrue();
			assertThat(number(servers, end)).isEqualTo(900_000);
			servers.end(forward);
			assertThat(number(servers, end)).isEqualTo(1_000_000);
			servers.begin(new Fault(1, Fault.Kind.CLOCK_JUMP, 0, 100));
			assertThat(number(servers, end)).isEqualTo(1_100_000);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void faultOfCommitsCountsIfItMeetsOne(TestDatabase database) throws SQLException {
		for (Fault.Kind kind : new Fault.Kind[] { Fault.Kind.COMMIT_LATE, Fault.Kind.COMMIT_REPLY_LOST }) {
			Fault fault = new Fault(0, kind, 0, 0);
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

	private static Servers servers(TestDatabase database) {
		return new Servers(new Target(Backend.JDBC, database, Isolation.READ_COMMITTED, Level.FENCE), 0);
	}

	private static boolean begin(Servers servers, Fault.Kind kind) {
		return servers.begin(new Fault(0, kind, 0, 0));
	}

	private static Connection connect(Servers servers) throws SQLException {
		DatabaseAccess database = servers.database(0);
		return DriverManager.getConnection(database.url(), database.user(), database.password());
	}

	private static void execute(Servers servers, String sql) throws SQLException {
		try (Connection connection = connect(servers); Statement statement = connection.createStatement()) {
			statement.executeUpdate(sql);
		}
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
