package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.Intercepted;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.transaction.RowClaims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The first attempt fails with its connection, and the next one succeeds. */
@Timeout(120)
class FailedAttemptTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final LockRequest REQUEST = Requests.request("k", Duration.ZERO, LEASE);

	private static final String BYPASS = "com.zaxxer.hikari.aliveBypassWindowMs";

	/** As after a failover, pools do not know that their connections are broken. */
	@BeforeAll
	static void trustConnections() {
		System.setProperty(BYPASS, Long.toString(Duration.ofHours(1).toMillis()));
	}

	@AfterAll
	static void forget() {
		System.clearProperty(BYPASS);
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockIsAcquiredAndRenewedAlthoughTheDatabaseHasEndedAllSessions(TestDatabase database) throws Exception {
		try (Store store = new Store(database, 5); HikariDataSource admin = store.access.dataSource(1)) {
			store.fillPool();
			endSessions(database, admin);
			LockBackend.Lease lease = store.backend.acquire(REQUEST);
			assertThat(lease).isNotNull();
			store.fillPool();
			endSessions(database, admin);
			assertThat(lease.renew(LEASE).toCompletableFuture().join()).isTrue();
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void leaseIsInstalledAlthoughTheDatabaseHasEndedAllSessions(TestDatabase database) throws Exception {
		try (Store store = new Store(database, 5); HikariDataSource admin = store.access.dataSource(1)) {
			try (GuardedNode node = new GuardedNode(new LocalLockBackend(), RowClaims.of(() -> store.pool, "test"))) {
				store.fillPool();
				endSessions(database, admin);
				node.locks()
					.run("k", () -> assertThat(
							new JdbcTemplate(admin).queryForObject("SELECT epoch FROM holdfast_lock", Long.class))
						.isEqualTo(LockContext.current().orElseThrow().fencingToken() >> 8));
			}
		}
	}

	/** The first attempt has released the lock, so the second finds nothing. */
	@Test
	void releaseWhoseAnswerIsLostIsNotTakenForALoss() throws Exception {
		try (Store store = new Store(TestDatabase.POSTGRESQL, 1)) {
			ReleaseFault fault = new ReleaseFault(store.pool);
			JdbcLockBackend backend = new JdbcLockBackend(() -> fault);
			LockBackend.Lease lease = backend.acquire(REQUEST);
			assertThat(lease).isNotNull();
			fault.breakNext = true;
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(lease::release);
			assertThat(fault.breakNext).isFalse();
			assertThat(backend.acquire(REQUEST)).as("the lock is free").isNotNull();
			backend.close();
		}
	}

	/** It may reach PostgreSQL before the statement does. */
	@Test
	void statementWhoseCancellationWasLostIsCancelledAgain() throws Exception {
		try (Store store = new Store(TestDatabase.POSTGRESQL, 2)) {
			store.locks.acquire("k").close();
			try (Connection holder = store.pool.getConnection(); Connection waiting = store.pool.getConnection()) {
				holder.setAutoCommit(false);
				holder.createStatement().executeUpdate("UPDATE holdfast_lock SET epoch = epoch");
				PreparedStatement statement = Intercepted.of(
						waiting.prepareStatement("UPDATE holdfast_lock SET epoch = epoch"),
						(invocation) -> invocation.getMethod().getName().equals("cancel") ? null
								: invocation.proceed());
				assertThatExceptionOfType(SQLTimeoutException.class)
					.isThrownBy(() -> StatementDeadline.run(statement, 1, statement::executeUpdate));
				holder.rollback();
			}
		}
	}

	/** H2 cannot end a wait, so callers rest between their attempts. */
	@Test
	void attemptsOfATransactionOnH2DoNotFollowEachOtherAtOnce() throws Exception {
		try (Store store = new Store(TestDatabase.H2, 2)) {
			TransactionLock lock = store.backend.transactionLock(Requests.request("k", PATIENCE, LEASE));
			assertThat(lock.awaitAttempt(PATIENCE.toNanos())).isTrue();
			long start = System.nanoTime();
			for (int i = 0; i < 100; i++) {
				assertThat(lock.awaitAttempt(PATIENCE.toNanos())).isTrue();
			}
			assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(500));
		}
	}

	/** Otherwise their threads would wait for ever. */
	@Test
	void renewalThatHasNotBegunIsAnsweredAfterTheShutdown() throws Exception {
		try (Store store = new Store(TestDatabase.H2, 1)) {
			List<LockBackend.Lease> leases = new ArrayList<>();
			for (String key : List.of("a", "b", "c")) {
				leases.add(store.backend.acquire(Requests.request(key, Duration.ZERO, LEASE)));
			}
			List<CompletableFuture<Boolean>> renewals;
			try (Connection connection = store.pool.getConnection()) {
				renewals = leases.stream().map((lease) -> lease.renew(LEASE).toCompletableFuture()).toList();
				await().until(() -> store.pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 2);
				store.backend.close();
				assertThat(connection.isClosed()).isFalse();
			}
			renewals.forEach((renewal) -> assertThat(renewal).succeedsWithin(PATIENCE));
		}
	}

	private static void endSessions(TestDatabase database, HikariDataSource admin) {
		JdbcTemplate jdbc = new JdbcTemplate(admin);
		if (database == TestDatabase.POSTGRESQL) {
			jdbc.queryForList("SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
					+ "WHERE pid <> pg_backend_pid() AND datname = current_database()");
			return;
		}
		jdbc.queryForList(
				"SELECT id FROM information_schema.processlist " + "WHERE db = database() AND id <> connection_id()",
				Long.class)
			.forEach((id) -> jdbc.execute("KILL " + id));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lockIsReleasedAlthoughItsThreadIsInterruptedWhileItWaitsForAConnection(TestDatabase database)
			throws Exception {
		try (Store store = new Store(database, 1)) {
			CountDownLatch held = new CountDownLatch(1);
			CountDownLatch busy = new CountDownLatch(1);
			FutureTask<Boolean> holder = new FutureTask<>(() -> {
				LockTemplate.Scope scope = store.locks.acquire("k");
				held.countDown();
				busy.await();
				scope.close();
				return Thread.currentThread().isInterrupted();
			});
			Thread thread = new Thread(holder);
			thread.start();
			held.await();
			try (Connection connection = store.pool.getConnection()) {
				assertThat(connection.isClosed()).isFalse();
				busy.countDown();
				await().until(() -> store.pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 1);
				thread.interrupt();
				assertThat(holder.get()).as("the thread is still interrupted").isTrue();
			}
			store.locks.acquire("k").close();
			assertThat(store.outcomes).endsWith(LockListener.Outcome.RELEASED);
		}
	}

	/** Breaks a session after it has released a lock. */
	private static final class ReleaseFault extends DelegatingDataSource {

		private volatile boolean breakNext;

		private ReleaseFault(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return Intercepted.of(connection, (invocation) -> {
				Object result = invocation.proceed();
				return (result instanceof PreparedStatement statement
						&& ((String) invocation.getArguments()[0]).startsWith("UPDATE holdfast_lock SET owner = NULL"))
								? Intercepted.of(statement, this::execute) : result;
			});
		}

		private @Nullable Object execute(MethodInvocation invocation) throws Throwable {
			Object result = invocation.proceed();
			if (invocation.getMethod().getName().equals("executeUpdate") && this.breakNext) {
				this.breakNext = false;
				throw new SQLException("The session is broken", "08006");
			}
			return result;
		}

	}

	/** A database with a lock table, and locks in it. */
	private static final class Store implements AutoCloseable {

		private final DatabaseAccess access;

		private final HikariDataSource pool;

		private final JdbcLockBackend backend;

		private final LockManager manager;

		private final LockTemplate locks;

		private final List<LockListener.Outcome> outcomes = new CopyOnWriteArrayList<>();

		private Store(TestDatabase database, int connections) {
			this.access = database.newDatabase();
			this.pool = this.access.dataSource(connections);
			database.createLockTable(this.pool);
			this.backend = new JdbcLockBackend(() -> this.pool);
			LockListener listener = new LockListener() {

				@Override
				public void onReleased(Call call, Outcome outcome, Duration holdTime) {
					Store.this.outcomes.add(outcome);
				}

			};
			this.manager = new LockManager(() -> this.backend, () -> LockGuard.NONE, () -> List.of(listener),
					(name) -> null, LockSettings.DEFAULT, Duration.ZERO);
			this.locks = new LockTemplate(this.manager).withLeaseTime(LEASE).withWaitTime(PATIENCE);
		}

		private void fillPool() throws SQLException {
			int size = this.pool.getMaximumPoolSize();
			Connection[] connections = new Connection[size];
			for (int i = 0; i < size; i++) {
				connections[i] = this.pool.getConnection();
				try (Statement statement = connections[i].createStatement()) {
					statement.execute("SELECT 1");
				}
			}
			for (Connection connection : connections) {
				connection.close();
			}
		}

		@Override
		public void close() {
			this.manager.close();
			this.backend.close();
			this.pool.close();
		}

	}

}
