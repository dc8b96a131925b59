package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.GrantedLease;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.Threads;
import io.github.holdfast.transaction.RowClaims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The rows of grants under races, row locks, isolation levels and auto-commit modes. */
class FenceRowsTests {

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void epochNeverFalls(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase().impatient(), null,
				true)) {
			OwnConnections connections = new OwnConnections(() -> dataSource);
			connections.call((connection, rows) -> {
				rows.insert(connection, "key", true, SECOND);
				assertThat(rows.fence(connection, "key", 5, 1, SECOND)).isTrue();
				assertThat(rows.fence(connection, "key", 7, 2, SECOND)).isTrue();
				assertThat(rows.fence(connection, "key", 6, 3, SECOND)).isFalse();
				assertThat(rows.fence(connection, "key", 7, 3, SECOND)).as("the same epoch for another owner")
					.isFalse();
				connection.createStatement().execute("UPDATE holdfast_lock SET expires_at = 1");
				assertThat(rows.fence(connection, "key", 7, 2, SECOND)).as("once more").isTrue();
				assertThat(rows.find(connection, "key", SECOND)).satisfies((row) -> {
					assertThat(row.expiresAt()).as("not purged soon").isGreaterThan(1);
					assertThat(row.epoch()).isEqualTo(7);
					assertThat(row.owner()).isEqualTo(2);
				});
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void sourcesAndKeysAreIndependent(TestDatabase database) {
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase().impatient(), null,
				true)) {
			AtomicLong epoch = new AtomicLong(100);
			for (String source : List.of("redis", "Redis", "redis2")) {
				try (GuardedNode node = node(dataSource, source, epoch::getAndDecrement)) {
					for (String key : List.of("SKU-a", "SKU-A", "SKU-a ", "SKU-á", "x".repeat(1000),
							"x".repeat(1001))) {
						node.locks().acquire(key).close();
					}
				}
			}
			assertThat(new JdbcTemplate(dataSource).queryForList("SELECT epoch FROM holdfast_lock", Long.class))
				.hasSize(18)
				.doesNotHaveDuplicates();
		}
	}

	/** A later holder reads what it has committed. */
	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("io.github.holdfast.store.jdbc.LockTables#pools")
	@Tag("long")
	void openTransactionOfAnEarlierHolderIsWaitedForWhateverThePoolIsLike(TestDatabase database, String isolation,
			boolean autoCommit) {
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase().impatient(), isolation,
				autoCommit)) {
			JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
			AtomicLong epoch = new AtomicLong();
			try (GuardedNode first = node(dataSource, "test", epoch::incrementAndGet, manager);
					GuardedNode second = node(dataSource, "test", epoch::incrementAndGet)) {
				List<CompletableFuture<Void>> waiter = new ArrayList<>();
				first.locks().run("key", () -> new TransactionTemplate(manager).executeWithoutResult((status) -> {
					CompletableFuture.runAsync(() -> {
						second.locks().acquire("other key").close();
						assertThatExceptionOfType(LockNotAcquiredException.class)
							.isThrownBy(() -> second.locks().withWaitTime(Duration.ofMillis(200)).acquire("key"));
					}).join();
					waiter.add(CompletableFuture
						.runAsync(() -> second.locks().withWaitTime(Duration.ofSeconds(60)).acquire("key").close()));
					Awaitility.await().during(Duration.ofMillis(300)).until(() -> !waiter.get(0).isDone());
				}));
				waiter.get(0).join();
				assertThat(
						new JdbcTemplate(dataSource).queryForObject("SELECT max(epoch) FROM holdfast_lock", Long.class))
					.isEqualTo(epoch.get());
			}
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void rowOfAnEarlierHolderIsReplacedByOneRoundTrip(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port());
				HikariDataSource dataSource = LockTables.create(database, access.onPort(proxy.port()),
						"TRANSACTION_READ_COMMITTED", true)) {
			AtomicLong epoch = new AtomicLong();
			AtomicInteger replies = new AtomicInteger();
			try (GuardedNode node = node(dataSource, "test", epoch::incrementAndGet)) {
				node.locks().acquire("key").close();
				proxy.beforeReply(replies::incrementAndGet);
				node.locks().acquire("key").close();
			}
			assertThat(replies).hasValue(1);
			assertThat(new JdbcTemplate(dataSource).queryForObject("SELECT epoch FROM holdfast_lock", Long.class))
				.isEqualTo(2);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void installationIsNoPartOfARunningTransaction(TestDatabase database) {
		try (HikariDataSource pool = LockTables.create(database, database.newDatabase().impatient(), null, true)) {
			TransactionAwareDataSourceProxy dataSource = new TransactionAwareDataSourceProxy(pool);
			try (GuardedNode node = node(dataSource, "test", () -> 2)) {
				new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult((status) -> {
					new JdbcTemplate(dataSource).queryForList("SELECT 1");
					node.locks().acquire("key").close();
					status.setRollbackOnly();
				});
			}
			assertThat(new JdbcTemplate(pool).queryForList("SELECT epoch FROM holdfast_lock", Long.class))
				.as("survived the rollback")
				.containsExactly(2L);
		}
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("io.github.holdfast.store.jdbc.LockTables#pools")
	void largestEpochWinsTheRaceForANewRowWhateverThePoolIsLike(TestDatabase database, String isolation,
			boolean autoCommit) throws Exception {
		int threads = 16;
		try (HikariDataSource dataSource = LockTables.create(database, database.newDatabase().impatient(), isolation,
				autoCommit)) {
			for (int round = 0; round < 20; round++) {
				String key = "new-" + round;
				List<Boolean> results = Threads.together(threads, (thread) -> isInstalled(dataSource, key, thread + 1));
				assertThat(results.get(threads - 1)).isTrue();
				assertThat(isInstalled(dataSource, key, threads - 1)).isFalse();
			}
		}
	}

	private static boolean isInstalled(DataSource dataSource, String key, long epoch) {
		try (GuardedNode node = node(dataSource, "test", () -> epoch)) {
			LockTemplate once = node.locks().withWaitTime(Duration.ZERO);
			once.acquire(key).close();
			return true;
		}
		catch (LockNotAcquiredException ex) {
			return false;
		}
	}

	private static GuardedNode node(DataSource dataSource, String source, LongSupplier epochs,
			JdbcTransactionManager... managers) {
		return new GuardedNode((request) -> new GrantedLease(epochs.getAsLong(), System.nanoTime(), () -> true),
				RowClaims.of(() -> dataSource, source), managers);
	}

}
