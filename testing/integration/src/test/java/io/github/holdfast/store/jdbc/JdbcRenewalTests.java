package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.sql.SqlDialect;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rows of renewals: what they say about a lease, and that a renewal and a take-over
 * never both succeed.
 */
class JdbcRenewalTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lockRowIsTheSameAfterARenewal(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			String columns = "SELECT epoch, owner, holder, acquired_at, expires_at, version FROM holdfast_lock";
			Map<String, Object> before = jdbc.queryForMap(columns);
			assertThat(lease.renew(LEASE_TIME)).isTrue();
			assertThat(lease.renew(LEASE_TIME)).isTrue();
			assertThat(jdbc.queryForMap(columns)).isEqualTo(before);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewedLeaseIsNotTakenAlthoughItsFirstTimeHasPassed(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			expire(dataSource);
			assertThat(lease.renew(Duration.ofSeconds(300))).isTrue();
			assertThat(acquire(backend, Duration.ZERO)).isNull();
			assertThat(backend.holder("key")).extracting(LockHolder::text)
				.asString()
				.containsPattern("ends in [23]\\d{5} ms");
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewalForAShorterTimeEndsTheLeaseEarlier(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			assertThat(lease.renew(Duration.ofMillis(100))).isTrue();
			assertThat(acquire(backend, PATIENCE)).isNotNull();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewalOfAnEarlierHolderSaysNothingAboutTheNext(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease first = acquired(backend);
			assertThat(first.renew(Duration.ofHours(1))).isTrue();
			assertThat(first.release().toCompletableFuture().join()).isTrue();
			LockLease second = acquired(backend);
			assertThat(backend.holder("key")).extracting(LockHolder::text)
				.asString()
				.containsPattern("ends in [123]?\\d{4} ms");
			expire(dataSource);
			assertThat(acquire(backend, Duration.ZERO)).isNotNull();
			assertThat(second.renew(LEASE_TIME)).isFalse();
		});
	}

	/**
	 * H2 has no share locks.
	 */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void renewalDoesNotWaitForACommitThatIsChecked(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			try (Connection connection = dataSource.getConnection()) {
				connection.setAutoCommit(false);
				shareLock(connection);
				assertThat(lease.renew(LEASE_TIME)).isTrue();
				assertThat(lease.renew(LEASE_TIME)).isTrue();
				connection.rollback();
			}
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F88")
	void leaseWhoseRenewalIsNotYetCommittedIsNotTaken(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			expire(dataSource);
			try (Connection connection = dataSource.getConnection()) {
				connection.setAutoCommit(false);
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
				assertThat(renew(connection, lease)).isTrue();
				Future<LockLease> other = start(() -> acquire(backend, Duration.ofSeconds(2)));
				assertThat(acquire(backend, Duration.ZERO)).isNull();
				connection.commit();
				assertThat(other.get(60, TimeUnit.SECONDS)).isNull();
			}
			assertThat(acquire(backend, Duration.ZERO)).isNull();
			assertThat(lease.renew(LEASE_TIME)).isTrue();
		});
	}

	/**
	 * What a pool without auto-commit has left open on a connection is older than the
	 * lock.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F90")
	void leaseIsRenewedAndReleasedOnAConnectionWithAnOlderSnapshot(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource pool = access.dataSource(2);
				HikariDataSource first = withSnapshots(database, access);
				HikariDataSource second = withSnapshots(database, access)) {
			DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			first.getConnection().close();
			second.getConnection().close();
			DelegatingDataSource connections = new DelegatingDataSource(pool);
			JdbcLockBackend backend = new JdbcLockBackend(() -> connections);
			LockLease lease = acquired(backend);
			connections.setTargetDataSource(first);
			assertThat(lease.renew(LEASE_TIME)).isTrue();
			connections.setTargetDataSource(second);
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
		}
	}

	private static HikariDataSource withSnapshots(TestDatabase database, DatabaseAccess access) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(access.url());
		pool.setUsername(access.user());
		pool.setPassword(access.password());
		pool.setMaximumPoolSize(1);
		pool.setAutoCommit(false);
		pool.setTransactionIsolation(
				(database == TestDatabase.H2) ? "TRANSACTION_SERIALIZABLE" : "TRANSACTION_REPEATABLE_READ");
		pool.setConnectionInitSql("SELECT count(*) FROM holdfast_lock");
		return pool;
	}

	/**
	 * The renewal comes after the look of the one who takes the lease over.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F88")
	void leaseThatWasRenewedAfterItWasLookedAtIsNotTaken(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			expire(dataSource);
			try (Connection connection = dataSource.getConnection()) {
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
				connection.setAutoCommit(false);
				LockTable table = new LockTable(SqlDialect.of(connection));
				LockTable.Row row = table.find(connection, "key", PATIENCE);
				assertThat(row.isExpired()).isTrue();
				assertThat(lease.renew(LEASE_TIME)).isTrue();
				assertThat(takeOver(connection, row.epoch())).isFalse();
				connection.commit();
			}
			assertThat(acquire(backend, Duration.ZERO)).isNull();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F88")
	void renewalWaitsForATakeOverAndFails(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			LockLease lease = acquired(backend);
			expire(dataSource);
			try (Connection connection = dataSource.getConnection()) {
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
				connection.setAutoCommit(false);
				assertThat(takeOver(connection, lease.epoch())).isTrue();
				Future<Boolean> renewal = start(() -> lease.renew(LEASE_TIME));
				// Time in which a renewal that does not wait would have succeeded
				assertThat(acquire(backend, Duration.ofMillis(500))).isNull();
				connection.commit();
				assertThat(renewal.get(60, TimeUnit.SECONDS)).isFalse();
			}
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F88")
	void renewalAndTakeOverNeverBothSucceed(TestDatabase database) throws Exception {
		run(database, (dataSource, backend) -> {
			int renewed = 0;
			int taken = 0;
			Deadline deadline = Deadline.after(Duration.ofSeconds(60));
			ExecutorService executor = Executors.newFixedThreadPool(2);
			try {
				for (int round = 0; round < 300 || (renewed == 0 || taken == 0) && !deadline.hasPassed(); round++) {
					LockLease lease = acquired(backend);
					if (round % 2 == 0) {
						assertThat(lease.renew(LEASE_TIME)).isTrue();
					}
					expire(dataSource);
					CyclicBarrier start = new CyclicBarrier(2);
					Future<Boolean> renewal = executor.submit(() -> {
						start.await();
						return lease.renew(LEASE_TIME);
					});
					Future<LockLease> takeOver = executor.submit(() -> {
						start.await();
						return acquire(backend, Duration.ZERO);
					});
					boolean isRenewed = renewal.get(60, TimeUnit.SECONDS);
					LockLease successor = takeOver.get(60, TimeUnit.SECONDS);
					assertThat(isRenewed && successor != null).as("both in round %d", round).isFalse();
					renewed += isRenewed ? 1 : 0;
					taken += (successor != null) ? 1 : 0;
					LockLease holder = (successor != null) ? successor : lease;
					assertThat(holder.release().toCompletableFuture().join()).isTrue();
				}
			}
			finally {
				executor.shutdownNow();
			}
			assertThat(renewed).as("rounds with a renewal").isPositive();
			assertThat(taken).as("rounds with a take-over").isPositive();
		});
	}

	private static boolean renew(Connection connection, LockLease lease) throws SQLException {
		return new RenewalTable(SqlDialect.of(connection)).renew(connection, "key", lease.epoch(), lease.owner(),
				LEASE_TIME, PATIENCE);
	}

	private static boolean takeOver(Connection connection, long epoch) throws SQLException {
		return new LockTable(SqlDialect.of(connection)).takeExpired(connection, "key", epoch,
				new LockTable.Grant(epoch + 1, UUID.randomUUID().toString(), "test", LEASE_TIME), PATIENCE);
	}

	/**
	 * Lock the row as the check before a commit does.
	 */
	private static void shareLock(Connection connection) throws SQLException {
		SqlDialect dialect = SqlDialect.of(connection);
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT 1 FROM holdfast_lock WHERE lock_key = ?" + dialect.shareLock())) {
			dialect.setKey(statement, 1, "key");
			assertThat(statement.executeQuery().next()).isTrue();
		}
	}

	private static void expire(HikariDataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.update("UPDATE holdfast_lock SET expires_at = acquired_at");
		jdbc.update("UPDATE holdfast_renewal SET expires_at = 0");
	}

	private static LockLease acquired(JdbcLockBackend backend) throws InterruptedException {
		LockLease lease = acquire(backend, PATIENCE);
		assertThat(lease).isNotNull();
		return lease;
	}

	private static @Nullable LockLease acquire(JdbcLockBackend backend, Duration waitTime) throws InterruptedException {
		return backend.acquire(new LockRequest("key", "test", LockRequest.Mode.EXCLUSIVE, false, waitTime, LEASE_TIME,
				UUID.randomUUID().toString(), "test", 0));
	}

	private static <T> Future<T> start(Attempt<T> attempt) {
		FutureTask<T> task = new FutureTask<>(attempt::run);
		new Thread(task).start();
		return task;
	}

	private static void run(TestDatabase database, Scenario scenario) throws Exception {
		try (HikariDataSource dataSource = database.newDatabase().dataSource(6)) {
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			scenario.run(dataSource, new JdbcLockBackend(() -> dataSource));
		}
	}

	@FunctionalInterface
	private interface Scenario {

		void run(HikariDataSource dataSource, JdbcLockBackend backend) throws Exception;

	}

	@FunctionalInterface
	private interface Attempt<T extends @Nullable Object> {

		T run() throws Exception;

	}

}
