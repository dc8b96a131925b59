package io.github.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Database sessions that hold locks, one by one.
 */
class SessionTests {

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F48")
	void keysWithTheSameHashShareALockAndDoNotBlockTheirOwnCall(TestDatabase database) throws Exception {
		DatabaseAccess access = newDatabase(database);
		try (HikariDataSource pool = access.dataSource(3)) {
			SessionDataSource dataSource = (SessionDataSource) SessionDataSource.around(pool);
			SessionDialect dialect = dialect(pool);
			String id = dialect.id("", "both");
			Session session = dataSource.openSession(dialect, SessionTests::nothing);
			SessionLease first = session.take(request("first"), id, Deadline.after(Duration.ZERO));
			SessionLease second = session.take(request("second"), id, Deadline.after(Duration.ZERO));
			assertThat(first).isNotNull();
			assertThat(second).isNotNull();
			assertThat(takeElsewhere(dataSource, dialect, id)).isNull();
			assertThat(first.release().toCompletableFuture().get()).isTrue();
			assertThat(takeElsewhere(dataSource, dialect, id)).isNull();
			assertThat(second.isValid()).isTrue();
			assertThat(second.release().toCompletableFuture().get()).isTrue();
			SessionLease free = takeElsewhere(dataSource, dialect, id);
			assertThat(free).isNotNull();
			free.release();
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void lockIsNotHeldWhenItsTokenCannotBeWritten(TestDatabase database) throws Exception {
		DatabaseAccess access = newDatabase(database);
		DatabaseAccess reader = database.newUser(access, List.of("GRANT SELECT ON holdfast_lock TO shop_app"));
		try (HikariDataSource readers = reader.dataSource(2); HikariDataSource writers = access.dataSource(2)) {
			DataSource readOnly = SessionDataSource.around(readers);
			DataSource writable = SessionDataSource.around(writers);
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> new JdbcSessionLockBackend(() -> readOnly, () -> 2).acquire(request("key")));
			assertThat(readers.getHikariPoolMXBean().getActiveConnections()).isZero();
			assertThat(new JdbcSessionLockBackend(() -> writable, () -> 2).acquire(request("key"))).isNotNull();
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void connectionIsNotGivenBackWithALockThatIsNotSurelyReleased(TestDatabase database) throws Exception {
		DatabaseAccess access = newDatabase(database);
		try (HikariDataSource pool = access.dataSource(1)) {
			SessionDataSource dataSource = (SessionDataSource) SessionDataSource.around(pool);
			SessionDialect dialect = dialect(pool);
			long sessionId;
			Session session = dataSource.openSession(dialect, SessionTests::nothing);
			SessionLease lease = session.take(request("key"), dialect.id("", "key"), Deadline.after(Duration.ZERO));
			assertThat(lease).isNotNull();
			try (Connection connection = session.lend()) {
				sessionId = dialect.sessionId(connection);
				// As a pooler would, that gives the next statement to another session
				assertThat(dialect.unlock(connection, dialect.id("", "key"))).isTrue();
			}
			assertThat(lease.release().toCompletableFuture().get()).isFalse();
			try (Connection connection = pool.getConnection()) {
				assertThat(dialect.sessionId(connection)).isNotEqualTo(sessionId);
			}
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void lockThatIsGrantedInTheMomentOfTheTimeOutIsNotKept(TestDatabase database) throws Exception {
		DatabaseAccess access = newDatabase(database);
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try (HikariDataSource pool = access.dataSource(3)) {
			SessionDataSource dataSource = (SessionDataSource) SessionDataSource.around(pool);
			SessionDialect dialect = dialect(pool);
			String id = dialect.id("", "key");
			for (int i = 0; i < 300; i++) {
				SessionLease held = takeElsewhere(dataSource, dialect, id);
				assertThat(held).as("round %d", i).isNotNull();
				Future<SessionLease> waiter = executor
					.submit(() -> dataSource.openSession(dialect, SessionTests::nothing)
						.take(request("waiter"), id, Deadline.after(Duration.ofMillis(3))));
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(3_000_000, 6_000_000));
				assertThat(held.release().toCompletableFuture().get()).isTrue();
				SessionLease lease = waiter.get(60, TimeUnit.SECONDS);
				if (lease != null) {
					assertThat(lease.release().toCompletableFuture().get()).isTrue();
				}
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	private static SessionLease takeElsewhere(SessionDataSource dataSource, SessionDialect dialect, String id)
			throws Exception {
		return dataSource.openSession(dialect, SessionTests::nothing)
			.take(request("other"), id, Deadline.after(Duration.ZERO));
	}

	private static void nothing() {
	}

	private static SessionDialect dialect(HikariDataSource pool) throws SQLException {
		try (Connection connection = pool.getConnection()) {
			return SessionDialect.of(connection);
		}
	}

	private static LockRequest request(String key) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO, Duration.ofSeconds(30),
				UUID.randomUUID().toString(), "test", 0);
	}

	private static DatabaseAccess newDatabase(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource dataSource = access.dataSource(1)) {
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		}
		return access;
	}

}
