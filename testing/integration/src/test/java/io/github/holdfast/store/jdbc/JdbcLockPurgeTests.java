package io.github.holdfast.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.Polling.Deadline;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.Intercepted;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/** What a purge deletes, what it leaves, and what it does not disturb. */
class JdbcLockPurgeTests {

	private static final Duration DAY = Duration.ofDays(1);

	private static final long DAY_MICROS = TimeUnit.DAYS.toMicros(1);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void idleRowsAreDeletedAndOthersStay(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			release(acquired(backend, "free, long ago"));
			acquired(backend, "run out, long ago");
			age(dataSource, 2 * DAY_MICROS);
			release(acquired(backend, "free, just now"));
			acquired(backend, "held");
			acquired(backend, "run out, just now");
			update(dataSource, "UPDATE holdfast_lock SET expires_at = 1 WHERE lock_key = ?", "run out, just now");
			assertThat(purge(dataSource, DAY)).isEqualTo(2);
			assertThat(keys(dataSource)).containsExactly("free, just now", "held", "run out, just now");
		}
	}

	/** The renewal comes after the purge has looked at the page. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewalAndPurgeNeverBothSucceed(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			AtomicInteger renewed = new AtomicInteger();
			int purged = whilePurging(dataSource, 4, 100, (thread) -> {
				LockBackend.Lease lease = acquired(backend, "key-" + thread);
				updated(dataSource, "UPDATE holdfast_lock SET expires_at = 0 WHERE lock_key = ?", "key-" + thread);
				if (!renew(lease, Duration.ofSeconds(30))) {
					return true;
				}
				renewed.incrementAndGet();
				return lease.release().toCompletableFuture().join();
			});
			assertThat(purged).as("rows purged meanwhile").isPositive();
			assertThat(renewed).as("renewals meanwhile").hasPositiveValue();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void tableOfManyPagesIsPurgedToItsEnd(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			fill(dataSource, 1000);
			age(dataSource, 2 * DAY_MICROS);
			acquired(new JdbcLockBackend(() -> dataSource), "key-0500");
			assertThat(purge(dataSource, DAY)).isEqualTo(999);
			assertThat(keys(dataSource)).containsExactly("key-0500");
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void purgeEndsWhenItIsToldSo(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			fill(dataSource, 1000);
			age(dataSource, 2 * DAY_MICROS);
			AtomicInteger pages = new AtomicInteger();
			int deleted = purge(dataSource, DAY, () -> pages.getAndIncrement() < 2);
			assertThat(deleted).isBetween(1, 999);
			assertThat(keys(dataSource)).hasSize(1000 - deleted);
		}
	}

	/** Its epoch came from the caller, or the database's clock was put back. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void rowWhoseEpochIsAheadOfTheClockStays(TestDatabase database) throws Exception {
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			LockBackend.Lease lease = acquired(backend, "key");
			release(lease);
			age(dataSource, 2 * DAY_MICROS);
			new JdbcTemplate(dataSource).update("UPDATE holdfast_lock SET epoch = ?", lease.epoch() + DAY_MICROS);
			assertThat(purge(dataSource, DAY)).isZero();
			assertThat(acquired(backend, "key").epoch()).isGreaterThan(lease.epoch() + DAY_MICROS);
		}
	}

	/** Two threads for each key, and leases of which some run out. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void holdersNeverOverlapWhileRowsArePurged(TestDatabase database) throws Exception {
		int keys = 4;
		AtomicIntegerArray inside = new AtomicIntegerArray(keys);
		try (HikariDataSource dataSource = LockTables.create(database)) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			int purged = whilePurging(dataSource, 2 * keys, 50, (thread) -> {
				int key = thread % keys;
				boolean runOut = ThreadLocalRandom.current().nextInt(4) == 0;
				LockBackend.Lease lease = acquire(backend, "key-" + key, Duration.ofSeconds(60),
						runOut ? Duration.ofMillis(20) : Duration.ofSeconds(30));
				if (lease == null || runOut) {
					return lease != null;
				}
				boolean alone = inside.incrementAndGet(key) == 1;
				Thread.yield();
				inside.decrementAndGet(key);
				return lease.release().toCompletableFuture().join() && alone;
			});
			assertThat(purged).as("rows purged meanwhile").isPositive();
		}
	}

	/** Runs work on several threads until a purge beside them has found something. */
	private static int whilePurging(HikariDataSource dataSource, int threads, int rounds, Threads.Work<Boolean> work)
			throws Exception {
		AtomicBoolean working = new AtomicBoolean(true);
		AtomicInteger purged = new AtomicInteger();
		Deadline deadline = Deadline.after(Duration.ofSeconds(60));
		FutureTask<@Nullable Void> purge = Threads.start(() -> {
			while (working.get()) {
				purged.addAndGet(purge(dataSource, Duration.ZERO));
			}
			return null;
		});
		try {
			assertThat(Threads.together(threads, (thread) -> {
				int failed = 0;
				for (int round = 0; round < rounds || purged.get() == 0 && !deadline.hasPassed(); round++) {
					failed += work.run(thread) ? 0 : 1;
				}
				return failed;
			})).as("rounds that failed").containsOnly(0);
		}
		finally {
			working.set(false);
		}
		purge.get(30, TimeUnit.SECONDS);
		return purged.get();
	}

	private static int purge(HikariDataSource dataSource, Duration purgeAfter) throws SQLException {
		return purge(dataSource, purgeAfter, () -> true);
	}

	/** Purge as long as it is told so. */
	private static int purge(HikariDataSource dataSource, Duration purgeAfter, BooleanSupplier goesOn)
			throws SQLException {
		AtomicInteger deleted = new AtomicInteger();
		DataSource counting = new DelegatingDataSource(dataSource) {

			@Override
			public Connection getConnection() throws SQLException {
				return counted(super.getConnection(), deleted);
			}

		};
		new JdbcLockPurge(() -> counting, purgeAfter).run(goesOn);
		return deleted.get();
	}

	/** Counts the executions of what is prepared to delete. */
	private static <T> T counted(T target, AtomicInteger deleted) {
		return Intercepted.of(target, (invocation) -> {
			Object result = invocation.proceed();
			if (invocation.getMethod().getName().equals("executeUpdate")) {
				deleted.addAndGet((Integer) result);
			}
			return (result instanceof PreparedStatement statement
					&& invocation.getArguments()[0].toString().startsWith("DELETE")) ? counted(statement, deleted)
							: result;
		});
	}

	private static LockBackend.Lease acquired(JdbcLockBackend backend, String key) throws InterruptedException {
		LockBackend.Lease lease = acquire(backend, key, Duration.ofSeconds(10), Duration.ofSeconds(30));
		assertThat(lease).isNotNull();
		return lease;
	}

	private static LockBackend.@Nullable Lease acquire(JdbcLockBackend backend, String key, Duration waitTime,
			Duration leaseTime) throws InterruptedException {
		return backend.acquire(Requests.request(key, waitTime, leaseTime));
	}

	private static boolean renew(LockBackend.Lease lease, Duration leaseTime) {
		while (true) {
			try {
				return lease.renew(leaseTime).toCompletableFuture().join();
			}
			catch (CompletionException ex) {
				// The purge has locked the row: the next attempt follows
				assertThat(ex).hasRootCauseMessage("The row is locked by a transaction");
			}
		}
	}

	private static void release(LockBackend.Lease lease) {
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
	}

	/** Let all rows be older than they are. */
	private static void age(HikariDataSource dataSource, long micros) {
		new JdbcTemplate(dataSource).update("UPDATE holdfast_lock SET epoch = epoch - ?, "
				+ "expires_at = CASE WHEN expires_at > 0 THEN expires_at - ? ELSE 0 END", micros, micros);
	}

	private static void fill(HikariDataSource dataSource, int rows) throws SQLException {
		try (Connection connection = dataSource.getConnection();
				PreparedStatement statement = connection
					.prepareStatement("INSERT INTO holdfast_lock (lock_key, epoch, expires_at) VALUES (?, "
							+ 3 * DAY_MICROS + ", 0)")) {
			SqlDialect dialect = SqlDialect.of(connection);
			for (int i = 0; i < rows; i++) {
				dialect.setKey(statement, 1, "key-%04d".formatted(i));
				statement.addBatch();
			}
			statement.executeBatch();
		}
	}

	private static void update(HikariDataSource dataSource, String sql, String key) throws SQLException {
		assertThat(updated(dataSource, sql, key)).isOne();
	}

	private static int updated(HikariDataSource dataSource, String sql, String key) throws SQLException {
		try (Connection connection = dataSource.getConnection();
				PreparedStatement statement = connection.prepareStatement(sql)) {
			SqlDialect.of(connection).setKey(statement, 1, key);
			return statement.executeUpdate();
		}
	}

	private static List<String> keys(HikariDataSource dataSource) {
		return new JdbcTemplate(dataSource).query("SELECT lock_key FROM holdfast_lock ORDER BY lock_key",
				(rs, row) -> new String(rs.getBytes(1), StandardCharsets.UTF_8));
	}

}
