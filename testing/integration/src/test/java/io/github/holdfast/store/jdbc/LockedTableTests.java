package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An operator works on a table of locks, as {@code VACUUM FULL} and {@code ALTER TABLE}
 * do, and nobody gets at it meanwhile. Calls end all the same, soon after their wait
 * time.
 */
@Tag("long")
@Timeout(180)
class LockedTableTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void callEndsAlthoughTheLockTableIsLocked(TestDatabase database) throws Exception {
		try (Store store = new Store(database)) {
			assertCallEndsWhileLocked(store, new GuardedNode(new JdbcLockBackend(() -> store.pool), null));
		}
	}

	private static void assertCallEndsWhileLocked(Store store, GuardedNode node) throws Exception {
		try (node) {
			LockTemplate locks = locks(node, Duration.ofSeconds(1));
			locks.acquire("k").close();
			store.lock("holdfast_lock");
			assertThat(call(locks)).failsWithin(PATIENCE)
				.withThrowableThat()
				.withCauseInstanceOf(LockBackendException.class);
			store.unlock();
			locks.acquire("k").close();
		}
	}

	/**
	 * A migration waits for a long report, and all others wait for the migration.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void callEndsAlthoughItWaitsBehindAMigration(TestDatabase database) throws Exception {
		try (Store store = new Store(database);
				Connection report = store.admin.getConnection();
				Connection migration = store.admin.getConnection();
				Statement read = report.createStatement();
				Statement alter = migration.createStatement()) {
			try (GuardedNode node = new GuardedNode(new JdbcLockBackend(() -> store.pool), null)) {
				LockTemplate locks = locks(node, Duration.ofSeconds(1));
				locks.acquire("k").close();
				report.setAutoCommit(false);
				read.executeQuery("SELECT count(*) FROM holdfast_lock").close();
				CompletableFuture<Boolean> migrated = async(
						() -> alter.execute("ALTER TABLE holdfast_lock ADD COLUMN note varchar(10)"));
				await().atMost(PATIENCE).until(() -> store.waiters() == 1);
				assertThat(call(locks)).failsWithin(PATIENCE)
					.withThrowableThat()
					.withCauseInstanceOf(LockBackendException.class);
				report.rollback();
				assertThat(migrated).succeedsWithin(PATIENCE);
				locks.acquire("k").close();
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void callGetsItsLockWhenTheTableIsFreeWithinItsWaitTime(TestDatabase database) throws Exception {
		try (Store store = new Store(database)) {
			try (GuardedNode node = new GuardedNode(new JdbcLockBackend(() -> store.pool), null)) {
				LockTemplate locks = locks(node, PATIENCE);
				locks.acquire("k").close();
				store.lock("holdfast_lock");
				CompletableFuture<Boolean> call = call(locks);
				await().atMost(PATIENCE).until(() -> store.waiters() == 1);
				store.unlock();
				assertThat(call).succeedsWithin(PATIENCE);
			}
		}
	}

	/**
	 * The lease is long, so that a statement that has a part of its time hangs, too.
	 */
	private static LockTemplate locks(GuardedNode node, Duration waitTime) {
		return node.locks().withWaitTime(waitTime).withLeaseTime(Duration.ofHours(1));
	}

	private static CompletableFuture<Boolean> call(LockTemplate locks) {
		return async(() -> {
			locks.acquire("k").close();
			return true;
		});
	}

	private static <T> CompletableFuture<T> async(Work<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.run());
			}
			catch (SQLException | RuntimeException ex) {
				result.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return result;
	}

	/**
	 * Something that is done on another thread.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	private interface Work<T> {

		T run() throws SQLException;

	}

	/**
	 * A database with the tables of locks.
	 */
	private static final class Store implements AutoCloseable {

		private final TestDatabase database;

		private final HikariDataSource pool;

		private final HikariDataSource admin;

		private final Connection operator;

		private Store(TestDatabase database) throws SQLException {
			this.database = database;
			DatabaseAccess access = database.newDatabase();
			this.pool = access.dataSource(5);
			this.admin = access.dataSource(4);
			this.operator = this.admin.getConnection();
			DatabaseAccess.runScript(this.pool, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		}

		/**
		 * Keep everybody else out of a table.
		 */
		private void lock(String table) throws SQLException {
			execute(isPostgres() ? "BEGIN; LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE"
					: "LOCK TABLES " + table + " WRITE");
		}

		private void unlock() throws SQLException {
			execute(isPostgres() ? "ROLLBACK" : "UNLOCK TABLES");
		}

		private boolean isPostgres() {
			return this.database == TestDatabase.POSTGRESQL;
		}

		private void execute(String sql) throws SQLException {
			try (Statement statement = this.operator.createStatement()) {
				statement.execute(sql);
			}
		}

		/**
		 * Who waits for a table.
		 */
		private int waiters() {
			return new JdbcTemplate(this.admin).queryForObject(
					(this.database == TestDatabase.POSTGRESQL)
							? "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation' "
									+ "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
							: "SELECT count(*) FROM information_schema.processlist "
									+ "WHERE db = database() AND state = 'Waiting for table metadata lock'",
					Integer.class);
		}

		@Override
		public void close() {
			this.pool.close();
			this.admin.close();
		}

	}

}
