package io.github.holdfast.store.session;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

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

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void sessionThatTheDriverReplacesHasEnded(boolean asked) throws Exception {
		DatabaseAccess access = newDatabase(TestDatabase.MARIADB);
		try (HikariDataSource admin = access.dataSource(1)) {
			SessionDataSource dataSource = (SessionDataSource) SessionDataSource.around(new DriverManagerDataSource(
					access.url().replace("mariadb:", "mariadb:sequential:"), access.user(), access.password()));
			SessionDialect dialect = dialect(admin);
			SessionLease lease = takeElsewhere(dataSource, dialect, dialect.id("", "key"));
			assertThat(lease).isNotNull();
			Session session = dataSource.sessionOf(lease);
			assertThat(session).isNotNull();
			try (Connection connection = session.lend()) {
				connection.setAutoCommit(false);
				try (Statement statement = connection.createStatement()) {
					statement.execute("SELECT COUNT(*) FROM holdfast_lock");
				}
				kill(admin, dialect.sessionId(connection));
				assertThatExceptionOfType(SQLException.class).isThrownBy(connection::setSavepoint);
				assertThat(connection.isClosed()).isFalse();
				if (asked) {
					assertThat(connection.unwrap(LockingConnection.class).holds(lease)).isFalse();
				}
			}
			assertThat(session.lend()).isNull();
			assertThat(lease.isValid()).isFalse();
			assertThat(lease.release().toCompletableFuture().get()).isFalse();
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,GET_LOCK", "MARIADB,holdfast_lock", "POSTGRESQL,advisory_lock", "POSTGRESQL,holdfast_lock" })
	void lockIsNotHeldWhenAProxyOfThePoolFails(TestDatabase database, String sql) throws Exception {
		DatabaseAccess access = newDatabase(database);
		try (HikariDataSource pool = access.dataSource(1); HikariDataSource otherPool = access.dataSource(1)) {
			SessionDialect dialect = dialect(otherPool);
			String id = dialect.id("", "key");
			SessionDataSource broken = (SessionDataSource) SessionDataSource.around(new BrokenProxy(pool, sql));
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> takeElsewhere(broken, dialect, id));
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			awaitFree(otherPool, dialect, id);
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,RELEASE_LOCK", "POSTGRESQL,advisory_unlock" })
	void lockIsNotHeldWhenAProxyOfThePoolFailsAtItsRelease(TestDatabase database, String sql) throws Exception {
		DatabaseAccess access = newDatabase(database);
		try (HikariDataSource pool = access.dataSource(1); HikariDataSource otherPool = access.dataSource(1)) {
			SessionDialect dialect = dialect(otherPool);
			String id = dialect.id("", "key");
			SessionDataSource broken = (SessionDataSource) SessionDataSource.around(new BrokenProxy(pool, sql));
			SessionLease lease = takeElsewhere(broken, dialect, id);
			assertThat(lease).isNotNull();
			assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lease::release);
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			awaitFree(otherPool, dialect, id);
		}
	}

	private static SessionLease takeElsewhere(SessionDataSource dataSource, SessionDialect dialect, String id)
			throws Exception {
		return dataSource.openSession(dialect, SessionTests::nothing)
			.take(request("other"), id, Deadline.after(Duration.ZERO));
	}

	/**
	 * The database may take a moment to see that a session has ended.
	 */
	private static void awaitFree(DataSource pool, SessionDialect dialect, String id) {
		SessionDataSource dataSource = (SessionDataSource) SessionDataSource.around(pool);
		await().until(() -> {
			SessionLease lease = takeElsewhere(dataSource, dialect, id);
			return lease != null && lease.release().toCompletableFuture().get();
		});
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

	/**
	 * End a session as an administrator, and wait until it is gone.
	 */
	private static void kill(DataSource admin, long sessionId) throws SQLException {
		try (Connection connection = admin.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("KILL " + sessionId);
			await().until(() -> {
				try (ResultSet rs = statement
					.executeQuery("SELECT 1 FROM information_schema.processlist WHERE id = " + sessionId)) {
					return !rs.next();
				}
			});
		}
	}

	/**
	 * Fails after a statement that takes a lock or writes its token, and instead of one
	 * that releases it.
	 */
	private static final class BrokenProxy extends DelegatingDataSource {

		private final String sql;

		BrokenProxy(DataSource pool, String sql) {
			super(pool);
			this.sql = sql;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return proxy(Connection.class, (method, args) -> {
				Object result = method.invoke(connection, args);
				return (result instanceof PreparedStatement statement && args[0].toString().contains(this.sql))
						? broken(statement) : result;
			});
		}

		private PreparedStatement broken(PreparedStatement statement) {
			return proxy(PreparedStatement.class, (method, args) -> {
				boolean execute = method.getName().startsWith("execute");
				Object result = (execute && this.sql.matches("(?i).*(unlock|release).*")) ? null
						: method.invoke(statement, args);
				if (execute) {
					throw new UnsupportedOperationException("broken");
				}
				return result;
			});
		}

		private static <T> T proxy(Class<T> type, Call call) {
			return type
				.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, args) -> {
					try {
						return call.run(method, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				}));
		}

		private interface Call {

			Object run(Method method, Object[] args) throws Throwable;

		}

	}

}
