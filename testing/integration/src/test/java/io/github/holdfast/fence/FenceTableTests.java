package io.github.holdfast.fence;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RoundTrips;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WireProtocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The fence row under races, row locks, isolation levels and auto-commit modes that pools
 * may have.
 */
class FenceTableTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void epochNeverFalls(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = fenceTable(database, null, true)) {
			FenceTable table = new FenceTable(() -> dataSource, "test");
			assertThat(install(table, "key", 5, "a")).isEqualTo(new FenceEntry(5, "a"));
			assertThat(install(table, "key", 7, "b")).isEqualTo(new FenceEntry(7, "b"));
			assertThat(install(table, "key", 6, "c")).isEqualTo(new FenceEntry(7, "b"));
			assertThat(install(table, "key", 7, "c")).as("the same epoch for another owner")
				.isEqualTo(new FenceEntry(7, "b"));
			assertThat(install(table, "key", 7, "b")).as("once more").isEqualTo(new FenceEntry(7, "b"));
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void sourcesAndKeysAreIndependent(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = fenceTable(database, null, true)) {
			List<FenceEntry> installed = new ArrayList<>();
			for (String source : List.of("redis", "Redis", "redis2")) {
				for (String key : List.of("SKU-a", "SKU-A", "SKU-a ", "SKU-á", "x".repeat(1000), "x".repeat(1001))) {
					FenceEntry entry = install(new FenceTable(() -> dataSource, source), key, 100 - installed.size(),
							"owner");
					assertThat(entry).isEqualTo(new FenceEntry(100 - installed.size(), "owner"));
					installed.add(entry);
				}
			}
			assertThat(new JdbcTemplate(dataSource).queryForObject("SELECT count(*) FROM holdfast_fence", Long.class))
				.isEqualTo(18);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void openTransactionOfAnEarlierHolderIsNotWaitedFor(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = fenceTable(database, null, true)) {
			FenceTable table = new FenceTable(() -> dataSource, "test");
			LockBackend.Lease first = lease("key", 1, "a");
			install(table, "key", 1, "a");
			new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult((status) -> {
				assertThat(table.fence().holds(dataSource, first, false)).isTrue();
				assertThat(call(() -> install(table, "key", 2, "b"))).isNull();
				assertThat(call(() -> table.findLocked("key", TIMEOUT))).isEqualTo(new FenceEntry(1, "a"));
				assertThat(call(() -> install(table, "other key", 2, "b"))).isNotNull();
			});
			assertThat(table.findLocked("key", TIMEOUT)).isNull();
			assertThat(install(table, "key", 2, "b")).isEqualTo(new FenceEntry(2, "b"));
			new TransactionTemplate(new JdbcTransactionManager(dataSource))
				.executeWithoutResult((status) -> assertThat(table.fence().holds(dataSource, first, false)).isFalse());
		}
	}

	/**
	 * A statement that waited would fail when its time is over.
	 */
	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("pools")
	void openClaimIsNotWaitedForWhateverThePoolIsLike(TestDatabase database, String isolation, boolean autoCommit)
			throws Exception {
		try (HikariDataSource dataSource = fenceTable(database, isolation, autoCommit)) {
			FenceTable table = new FenceTable(() -> dataSource, "test");
			install(table, "key", 1, "a");
			new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult((status) -> {
				new JdbcTemplate(dataSource).update("UPDATE holdfast_fence SET epoch = 2, owner = 'b'");
				assertThat(call(() -> table.install(lease("key", 3, "c"), Duration.ofSeconds(1)))).isNull();
			});
			assertThat(install(table, "key", 3, "c")).isEqualTo(new FenceEntry(3, "c"));
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,MARIADB", "POSTGRESQL,POSTGRESQL" })
	void rowOfAnEarlierHolderIsReplacedByOneRoundTrip(TestDatabase database, WireProtocol protocol) throws Exception {
		DatabaseAccess access = database.newDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port());
				HikariDataSource dataSource = access.onPort(proxy.port()).dataSource(1)) {
			RoundTrips trips = new RoundTrips(proxy, protocol);
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			FenceTable table = new FenceTable(() -> dataSource, "test");
			install(table, "key", 1, "a");
			trips.clear();
			assertThat(install(table, "key", 2, "b")).isEqualTo(new FenceEntry(2, "b"));
			assertThat(trips.list()).singleElement().asString().contains("UPDATE holdfast_fence");
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void installationIsNoPartOfARunningTransaction(TestDatabase database) throws Exception {
		try (HikariDataSource pool = fenceTable(database, null, true)) {
			TransactionAwareDataSourceProxy dataSource = new TransactionAwareDataSourceProxy(pool);
			FenceTable table = new FenceTable(() -> dataSource, "test");
			new TransactionTemplate(new JdbcTransactionManager(dataSource)).executeWithoutResult((status) -> {
				new JdbcTemplate(dataSource).queryForList("SELECT 1");
				assertThat(call(() -> install(table, "key", 2, "a"))).isNotNull();
				status.setRollbackOnly();
			});
			assertThat(install(table, "key", 1, "b")).as("survived the rollback").isEqualTo(new FenceEntry(2, "a"));
		}
	}

	@ParameterizedTest(name = "{0}, {1}, auto-commit {2}")
	@MethodSource("pools")
	void largestEpochWinsTheRaceForANewRowWhateverThePoolIsLike(TestDatabase database, String isolation,
			boolean autoCommit) throws Exception {
		int threads = 16;
		try (HikariDataSource dataSource = fenceTable(database, isolation, autoCommit)) {
			FenceTable table = new FenceTable(() -> dataSource, "test");
			ExecutorService executor = Executors.newFixedThreadPool(threads);
			try {
				for (int round = 0; round < 40; round++) {
					String key = "new-" + round;
					CyclicBarrier start = new CyclicBarrier(threads);
					List<Future<FenceEntry>> results = new ArrayList<>();
					for (int i = 1; i <= threads; i++) {
						int epoch = i;
						results.add(executor.submit(() -> {
							start.await();
							return installOrRefused(table, key, epoch);
						}));
					}
					for (int i = 1; i <= threads; i++) {
						FenceEntry entry = results.get(i - 1).get(60, TimeUnit.SECONDS);
						assertThat(entry.epoch()).isBetween((long) i, (long) threads);
					}
					assertThat(installOrRefused(table, key, 1).epoch()).isEqualTo(threads);
				}
			}
			finally {
				executor.shutdownNow();
			}
		}
	}

	@Test
	void sourceThatTheTableCannotHoldIsRefused() {
		for (String source : List.of("", " ", "a b", "é", "x".repeat(41))) {
			assertThatIllegalArgumentException().isThrownBy(() -> new FenceTable(() -> {
				throw new AssertionError();
			}, source)).withMessageContaining("1 to 40 characters");
		}
	}

	static Stream<Arguments> pools() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream
				.of("TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ", "TRANSACTION_SERIALIZABLE")
				.flatMap((isolation) -> Stream.of(true, false)
					.map((autoCommit) -> Arguments.of(database, isolation, autoCommit))));
	}

	private static HikariDataSource fenceTable(TestDatabase database, @Nullable String isolation, boolean autoCommit) {
		DatabaseAccess access = database.newDatabase();
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(access.url());
		config.setUsername(access.user());
		config.setPassword(access.password());
		config.setMaximumPoolSize(16);
		config.setMinimumIdle(0);
		config.setAutoCommit(autoCommit);
		config.setTransactionIsolation(isolation);
		HikariDataSource dataSource = new HikariDataSource(config);
		DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		return dataSource;
	}

	/**
	 * Installations of others are as short as transactions of holders are long.
	 */
	private static FenceEntry installOrRefused(FenceTable table, String key, long epoch) throws SQLException {
		FenceEntry entry;
		do {
			entry = install(table, key, epoch, "owner-" + epoch);
		}
		while (entry == null);
		return entry;
	}

	private static @Nullable FenceEntry install(FenceTable table, String key, long epoch, String owner)
			throws SQLException {
		return table.install(lease(key, epoch, owner), TIMEOUT);
	}

	private static LockBackend.Lease lease(String key, long epoch, String owner) {
		return new GrantingBackend(() -> epoch).acquire(new LockRequest(key, "test", LockMode.EXCLUSIVE, false,
				Duration.ZERO, Duration.ofSeconds(30), owner, "test"));
	}

	private static <T> T call(Callable<T> callable) {
		try {
			return callable.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
