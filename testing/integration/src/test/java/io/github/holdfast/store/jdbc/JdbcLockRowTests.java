package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.IsolationLevelDataSourceRouter;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The lock row under row locks, isolation levels and auto-commit modes of pools. */
class JdbcLockRowTests {

	private static final Duration WAIT = Duration.ofMillis(300);

	/** A statement may take as long as its call may wait, and at least a second. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holderIsToldAsTheRowSays(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			assertThat(backend.holder("key")).isNull();
			LockBackend.Lease lease = acquire(backend, PATIENCE);
			assertThat(lease).isNotNull();
			new JdbcTemplate(dataSource).update("UPDATE holdfast_lock SET expires_at = 4102444800000000");
			LockHolder holder = backend.holder("key");
			assertThat(holder).isNotNull();
			assertThat(holder.epoch()).isEqualTo(lease.epoch());
			assertThat(holder.since()).isNull();
			assertThat(holder.expires()).isEqualTo("2100-01-01T00:00:00Z");
			assertThat(holder.description()).matches("held by test, for another \\d+ ms unless it is renewed");
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
			assertThat(backend.holder("key")).isNull();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void expiredLeaseIsNotTakenWhileItsTransactionIsCommitting(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			LockBackend.Lease lease = acquire(backend, PATIENCE);
			assertThat(lease).isNotNull();
			new JdbcTemplate(dataSource).update("UPDATE holdfast_lock SET expires_at = 1");
			try (Connection inFlight = lock(dataSource)) {
				assertBusyInTime(backend);
				assertThat(backend.holder("key")).extracting(LockHolder::description)
					.asString()
					.contains("an open transaction");
				inFlight.rollback();
			}
			LockBackend.Lease successor = acquire(backend, PATIENCE);
			assertThat(successor).isNotNull();
			assertThat(successor.epoch()).isGreaterThan(lease.epoch());
		}
	}

	/** On MariaDB, a SELECT of a serializable transaction locks what it reads. */
	@ParameterizedTest
	@MethodSource("io.github.holdfast.store.jdbc.LockTables#pools")
	void purgePassesOverRowsThatAreLocked(TestDatabase database, String isolation, boolean autoCommit)
			throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase(), isolation, autoCommit)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			for (String key : List.of("key", "other")) {
				LockBackend.Lease lease = backend.acquire(Requests.request(key, PATIENCE));
				assertThat(lease).isNotNull();
				assertThat(lease.release().toCompletableFuture().join()).isTrue();
			}
			JdbcLockPurge purge = new JdbcLockPurge(() -> dataSource, Duration.ofMillis(1));
			try (Connection inFlight = lock(dataSource)) {
				await().until(() -> {
					purge.run(() -> true);
					return unlockedRows(dataSource) == 0;
				});
				purge.run(() -> true);
				inFlight.rollback();
			}
			assertThat(unlockedRows(dataSource)).isOne();
			purge.run(() -> true);
			assertThat(unlockedRows(dataSource)).isZero();
		}
	}

	/** Also if it is no exact floating-point number. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void epochOfALockThatWasFreeIsExactlyTheOneInItsRow(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			LockBackend.Lease first = acquire(backend, PATIENCE);
			assertThat(first).isNotNull();
			first.release().toCompletableFuture().join();
			LockBackend.Lease second = acquire(backend, PATIENCE);
			assertThat(second).isNotNull();
			assertThat(second.epoch()).isGreaterThan(first.epoch())
				.isEqualTo(jdbc.queryForObject("SELECT epoch FROM holdfast_lock", Long.class));
			second.release().toCompletableFuture().join();
			jdbc.update("UPDATE holdfast_lock SET epoch = ?", Long.MAX_VALUE - 4);
			LockBackend.Lease third = acquire(backend, PATIENCE);
			assertThat(third).isNotNull();
			assertThat(third.epoch()).isEqualTo(Long.MAX_VALUE - 3);
			third.release().toCompletableFuture().join();
			assertThat(third.epoch()).isEqualTo(jdbc.queryForObject("SELECT epoch FROM holdfast_lock", Long.class));
		}
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("transactionAwareDataSources")
	void outerTransactionDoesNotSeeOrDelayTheLock(TestDatabase database, TransactionAware kind) {
		try (HikariDataSource pool = LockTables.create(database)) {
			DataSource dataSource = kind.around.apply(new TransactionAwareDataSourceProxy(pool));
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			JdbcLockBackend other = new JdbcLockBackend(() -> pool);
			JdbcTemplate application = new JdbcTemplate(new TransactionAwareDataSourceProxy(pool));
			application.execute("CREATE TABLE work (id integer)");
			new TransactionTemplate(new JdbcTransactionManager(pool)).executeWithoutResult((status) -> {
				application.update("INSERT INTO work VALUES (1)");
				assertThat(acquireUnchecked(backend, PATIENCE)).isNotNull();
				assertThat(acquireUnchecked(other, Duration.ZERO)).as("the lock was committed at once").isNull();
				status.setRollbackOnly();
			});
			assertThat(acquireUnchecked(other, Duration.ZERO)).as("the lock survived the rollback").isNull();
			assertThat(application.queryForList("SELECT id FROM work", Integer.class))
				.as("rows that the lock has committed")
				.isEmpty();
		}
	}

	static Stream<Arguments> transactionAwareDataSources() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of(TransactionAware.values()).map((kind) -> Arguments.of(database, kind)));
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("io.github.holdfast.store.jdbc.LockTables#pools")
	void contendersNeverOverlapWhateverThePoolIsLike(TestDatabase database, String isolation, boolean autoCommit)
			throws Exception {
		int threads = 8;
		int rounds = 15;
		int[] counter = new int[1];
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase(), isolation, autoCommit)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			Threads.together(threads, (thread) -> {
				for (int round = 0; round < rounds; round++) {
					LockBackend.Lease lease = acquire(backend, Duration.ofSeconds(60));
					assertThat(lease).isNotNull();
					int seen = counter[0];
					Thread.yield();
					counter[0] = seen + 1;
					assertThat(lease.release().toCompletableFuture().join()).isTrue();
				}
				return null;
			});
		}
		assertThat(counter[0]).isEqualTo(threads * rounds);
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("io.github.holdfast.store.jdbc.LockTables#pools")
	void firstContendersForNewKeysGetOneLockEachWhateverThePoolIsLike(TestDatabase database, String isolation,
			boolean autoCommit) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase(), isolation, autoCommit)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			int stalls = 0;
			for (int round = 0; round < 20 + stalls; round++) {
				String key = "new-" + round;
				try {
					assertThat(Threads.together(8, (thread) -> backend.acquire(Requests.request(key, Duration.ZERO))))
						.filteredOn(Objects::nonNull)
						.hasSize(1);
				}
				catch (ExecutionException ex) {
					// A server that stands still for a second proves nothing
					assertThat(ex).hasRootCauseInstanceOf(SQLTimeoutException.class);
					assertThat(++stalls).isLessThan(10);
				}
			}
		}
	}

	private static int unlockedRows(HikariDataSource dataSource) {
		return new JdbcTemplate(dataSource).queryForList("SELECT epoch FROM holdfast_lock FOR UPDATE SKIP LOCKED")
			.size();
	}

	/** A slow machine is late sometimes, a waiter that blocks each time. */
	private static void assertBusyInTime(JdbcLockBackend backend) throws InterruptedException {
		Duration limit = WAIT.multipliedBy(5);
		Duration fastest = limit;
		for (int i = 0; i < 5 && fastest.compareTo(limit) >= 0; i++) {
			long start = System.nanoTime();
			assertThat(acquire(backend, WAIT)).isNull();
			fastest = Duration.ofNanos(System.nanoTime() - start);
		}
		assertThat(fastest).isLessThan(limit);
	}

	private static LockBackend.@Nullable Lease acquire(JdbcLockBackend backend, Duration waitTime)
			throws InterruptedException {
		return backend.acquire(Requests.request("key", waitTime));
	}

	private static LockBackend.@Nullable Lease acquireUnchecked(JdbcLockBackend backend, Duration waitTime) {
		try {
			return acquire(backend, waitTime);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Lock the row as a transaction does. */
	private static Connection lock(HikariDataSource dataSource) throws SQLException {
		Connection connection = dataSource.getConnection();
		connection.setAutoCommit(false);
		SqlDialect dialect = SqlDialect.of(connection);
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT 1 FROM holdfast_lock WHERE lock_key = ? FOR UPDATE")) {
			dialect.setKey(statement, 1, "key");
			assertThat(statement.executeQuery().next()).isTrue();
		}
		return connection;
	}

	enum TransactionAware {

		BARE((dataSource) -> dataSource), DELEGATING(DelegatingDataSource::new),
		LAZY(LazyConnectionDataSourceProxy::new),
		TWICE((dataSource) -> new TransactionAwareDataSourceProxy(new DelegatingDataSource(dataSource))),
		ROUTING((dataSource) -> {
			IsolationLevelDataSourceRouter router = new IsolationLevelDataSourceRouter();
			router.setTargetDataSources(Map.of());
			router.setDefaultTargetDataSource(dataSource);
			router.afterPropertiesSet();
			return router;
		});

		private final UnaryOperator<DataSource> around;

		TransactionAware(UnaryOperator<DataSource> around) {
			this.around = around;
		}

	}

}
