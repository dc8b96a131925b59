package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Locks in a table that several holders share, on two nodes.
 */
@Timeout(120)
@Tag("F42")
class SharedJdbcLockTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void readersShareAndWritersDoNot(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 10)) {
			LockLease reader = nodes.first.acquire(shared(NO_WAIT));
			LockLease otherReader = nodes.second.acquire(shared(NO_WAIT));
			assertThat(nodes.first.acquire(exclusive(NO_WAIT))).isNull();
			assertThat(released(reader)).isTrue();
			assertThat(nodes.second.acquire(exclusive(NO_WAIT))).isNull();
			assertThat(nodes.second.holder("k").text()).contains("or shared");
			assertThat(otherReader.renew(LEASE)).isTrue();
			assertThat(released(otherReader)).isTrue();
			assertThat(released(otherReader)).isFalse();
			LockLease writer = nodes.first.acquire(exclusive(NO_WAIT));
			assertThat(nodes.second.acquire(shared(NO_WAIT))).isNull();
			assertThat(nodes.second.acquire(shared(Duration.ofMillis(50)))).isNull();
			assertThat(released(writer)).isTrue();
			assertThat(released(nodes.second.acquire(shared(NO_WAIT)))).isTrue();
			assertThat(writer.epoch()).isGreaterThan(otherReader.epoch());
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void readerWaitsForAWriterAndAWriterForReaders(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 10)) {
			LockLease writer = nodes.first.acquire(exclusive(NO_WAIT));
			FutureTask<@Nullable LockLease> reader = start(() -> nodes.second.acquire(shared(PATIENCE)));
			await().during(Duration.ofMillis(200)).until(() -> !reader.isDone());
			assertThat(released(writer)).isTrue();
			LockLease read = reader.get();
			FutureTask<@Nullable LockLease> next = start(() -> nodes.first.acquire(exclusive(PATIENCE)));
			await().during(Duration.ofMillis(200)).until(() -> !next.isDone());
			assertThat(released(read)).isTrue();
			assertThat(released(next.get())).isTrue();
		}
	}

	/**
	 * It waits in the database first, and asks again and again then.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void readerWaitsForATransactionThatHasTheRowLocked(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 10)) {
			released(nodes.first.acquire(exclusive(NO_WAIT)));
			for (Duration held : List.of(Duration.ofMillis(300), Duration.ofSeconds(3))) {
				try (Connection transaction = nodes.pool.getConnection()) {
					transaction.setAutoCommit(false);
					transaction.createStatement().execute("SELECT 1 FROM holdfast_lock FOR UPDATE");
					assertThat(nodes.second.acquire(shared(NO_WAIT))).isNull();
					FutureTask<@Nullable LockLease> reader = start(() -> nodes.second.acquire(shared(PATIENCE)));
					await().during(held).atMost(PATIENCE).until(() -> !reader.isDone());
					transaction.rollback();
					LockLease lease = reader.get();
					assertThat(lease.isValid()).isTrue();
					assertThat(released(lease)).isTrue();
				}
			}
		}
	}

	/**
	 * None of them is in the way of another one, although the row is not there.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void firstReadersOfAKeyAndOfALeaseThatHasRunOutShareIt(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 20)) {
			for (int round = 0; round < 10; round++) {
				List<FutureTask<@Nullable LockLease>> readers = new ArrayList<>();
				for (int i = 0; i < 8; i++) {
					JdbcLockBackend node = (i % 2 == 0) ? nodes.first : nodes.second;
					readers.add(start(() -> node.acquire(shared(PATIENCE))));
				}
				for (FutureTask<@Nullable LockLease> reader : readers) {
					assertThat(reader.get()).isNotNull().satisfies((lease) -> assertThat(lease.isValid()).isTrue());
				}
				for (FutureTask<@Nullable LockLease> reader : readers) {
					assertThat(released(reader.get())).isTrue();
				}
				if (round % 2 == 0) {
					nodes.first.acquire(exclusive(NO_WAIT));
					nodes.jdbc.update("UPDATE holdfast_lock SET expires_at = acquired_at");
				}
				else {
					nodes.jdbc.update("DELETE FROM holdfast_lock");
				}
			}
			assertThat(released(nodes.first.acquire(shared(NO_WAIT)))).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void readerTakesNothingFromAHolderWhoseLeaseHolds(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 10)) {
			LockLease writer = nodes.first.acquire(exclusive(NO_WAIT));
			nodes.jdbc.update("UPDATE holdfast_lock SET expires_at = acquired_at");
			assertThat(writer.renew(LEASE)).isTrue();
			assertThat(nodes.second.acquire(shared(NO_WAIT))).isNull();
			assertThat(released(writer)).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void writerGetsThroughThoughReadersOverlapForEver(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 20)) {
			AtomicBoolean end = new AtomicBoolean();
			AtomicInteger reads = new AtomicInteger();
			List<FutureTask<@Nullable LockLease>> readers = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				JdbcLockBackend node = (i % 2 == 0) ? nodes.first : nodes.second;
				readers.add(start(() -> {
					while (!end.get()) {
						LockLease lease = node.acquire(shared(PATIENCE));
						assertThat(lease).isNotNull();
						reads.incrementAndGet();
						Thread.sleep(100);
						assertThat(released(lease)).isTrue();
					}
					return null;
				}));
			}
			try {
				await().until(() -> reads.get() > 12);
				for (int i = 0; i < 2; i++) {
					LockLease writer = nodes.first.acquire(exclusive(PATIENCE));
					assertThat(writer).as("in time").isNotNull();
					assertThat(released(writer)).isTrue();
					int before = reads.get();
					await().atMost(PATIENCE).until(() -> reads.get() > before + 6);
				}
			}
			finally {
				end.set(true);
			}
			for (FutureTask<@Nullable LockLease> reader : readers) {
				reader.get();
			}
			// InnoDB lets nobody overtake the writer, which does not have to announce
			// itself
			assertThat(nodes.jdbc.queryForObject("SELECT count(*) FROM holdfast_renewal", Integer.class))
				.isEqualTo((database == TestDatabase.POSTGRESQL) ? 1 : 0);
			nodes.jdbc.update("UPDATE holdfast_lock SET epoch = 1, expires_at = 1");
			assertThat(new JdbcLockPurge(() -> nodes.pool, Duration.ofDays(1)).run(() -> true)).isOne();
			assertThat(nodes.jdbc.queryForObject("SELECT count(*) FROM holdfast_renewal", Integer.class)).isZero();
		}
	}

	/**
	 * What is done under the locks needs connections, too.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void moreCallersThanConnectionsDoNotStallThePool(TestDatabase database) throws Exception {
		for (int size : new int[] { 2, 3, 10 }) {
			try (Nodes nodes = new Nodes(database, size)) {
				List<FutureTask<@Nullable LockLease>> callers = new ArrayList<>();
				for (int i = 0; i < 2 * size + 6; i++) {
					boolean writes = i % 4 == 0;
					String key = "k" + i % 3;
					callers.add(start(() -> {
						for (int call = 0; call < 10; call++) {
							LockLease lease = nodes.first.acquire(writes ? request(key, LockRequest.Mode.EXCLUSIVE)
									: request(key, LockRequest.Mode.SHARED));
							assertThat(lease).isNotNull();
							nodes.firstJdbc.queryForList("SELECT 1");
							assertThat(lease.renew(LEASE)).isTrue();
							assertThat(released(lease)).isTrue();
						}
						return null;
					}));
				}
				for (FutureTask<@Nullable LockLease> caller : callers) {
					caller.get();
				}
				nodes.assertNothingIsKept();
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void halfOfThePoolIsKeptAtMost(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 5)) {
			List<LockLease> leases = new ArrayList<>();
			for (int i = 0; i < 2; i++) {
				leases.add(nodes.first.acquire(request("k" + i, LockRequest.Mode.SHARED)));
			}
			assertThatExceptionOfType(RejectedExecutionException.class)
				.isThrownBy(() -> nodes.first.acquire(shared(Duration.ofMillis(20))))
				.withMessageContaining("2 connections, half of the pool")
				.withMessageContaining("enlarge the pool");
			FutureTask<@Nullable LockLease> third = start(() -> nodes.first.acquire(shared(PATIENCE)));
			assertThat(released(leases.get(0))).isTrue();
			assertThat(released(third.get())).isTrue();
			assertThat(released(leases.get(1))).isTrue();
			nodes.assertNothingIsKept();
		}
		try (Nodes nodes = new Nodes(database, 1)) {
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> nodes.first.acquire(shared(PATIENCE)))
				.withMessageContaining("two connections at least");
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void readerWhoseSessionWasEndedIsToldByItsNextRenewal(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 5)) {
			LockLease renewed = nodes.first.acquire(shared(NO_WAIT));
			LockLease released = nodes.first.acquire(shared(NO_WAIT));
			nodes.endSessionsOfTheFirst();
			assertThat(renewed.renew(LEASE)).isFalse();
			assertThat(renewed.isValid()).isFalse();
			assertThat(released(renewed)).isFalse();
			assertThat(released(released)).isFalse();
			nodes.assertNothingIsKept();
			assertThat(released(nodes.second.acquire(exclusive(PATIENCE)))).isTrue();
			assertThat(released(nodes.first.acquire(shared(PATIENCE)))).isTrue();
			nodes.assertNothingIsKept();
		}
	}

	/**
	 * As if its process hung: it renews nothing, and does not know that.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void sessionOfAReaderWhoDoesNothingEndsWithItsLease(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 5)) {
			LockLease reader = nodes.first.acquire(new LockRequest("k", "test", LockRequest.Mode.SHARED, false, NO_WAIT,
					Duration.ofSeconds(1), UUID.randomUUID().toString(), "test", 0));
			LockLease writer = nodes.second.acquire(exclusive(PATIENCE));
			assertThat(writer).isNotNull();
			assertThat(reader.isValid()).isFalse();
			assertThat(reader.renew(LEASE)).isFalse();
			assertThat(released(writer)).isTrue();
			nodes.assertNothingIsKept();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void connectionIsGivenBackAsItWas(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 2)) {
			for (boolean autoCommit : new boolean[] { true, false }) {
				try (Connection connection = nodes.firstPool.getConnection()) {
					// One connection only, so that it is this one
					UnpooledConnection pool = new UnpooledConnection(connection);
					connection.setAutoCommit(autoCommit);
					connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
					List<String> before = nodes.settings(connection);
					JdbcLockBackend node = new JdbcLockBackend(() -> pool, () -> 2);
					assertThat(released(node.acquire(shared(NO_WAIT)))).isTrue();
					LockLease renewed = node.acquire(shared(NO_WAIT));
					assertThat(nodes.settings(connection)).isNotEqualTo(before);
					assertThat(renewed.renew(LEASE.multipliedBy(2))).isTrue();
					assertThat(released(renewed)).isTrue();
					LockLease writer = nodes.second.acquire(exclusive(NO_WAIT));
					assertThat(node.acquire(shared(NO_WAIT))).isNull();
					assertThat(released(writer)).isTrue();
					assertThat(nodes.settings(connection)).isEqualTo(before);
					assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
					assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
				}
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void nothingIsKeptAfterInterruptsTimeoutsAndFailures(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 6)) {
			released(nodes.second.acquire(exclusive(NO_WAIT)));
			try (Connection transaction = nodes.pool.getConnection()) {
				transaction.setAutoCommit(false);
				transaction.createStatement().execute("SELECT 1 FROM holdfast_lock FOR UPDATE");
				for (int i = 0; i < 5; i++) {
					int active = i;
					Thread[] thread = new Thread[1];
					FutureTask<@Nullable LockLease> reader = new FutureTask<>(
							() -> nodes.first.acquire(shared(PATIENCE)));
					thread[0] = new Thread(reader);
					thread[0].start();
					await().until(
							() -> active % 2 == 0 || nodes.firstPool.getHikariPoolMXBean().getActiveConnections() > 0);
					thread[0].interrupt();
					assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::get)
						.withCauseInstanceOf(InterruptedException.class);
					nodes.assertNothingIsKept();
				}
				assertThat(nodes.first.acquire(shared(Duration.ofMillis(100)))).isNull();
				nodes.assertNothingIsKept();
				transaction.rollback();
			}
			nodes.jdbc.execute("DROP TABLE holdfast_renewal");
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> nodes.first.acquire(shared(PATIENCE)));
			nodes.assertNothingIsKept();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void readerEntersAgainAndAWriterMayReadButAReaderMayNotWrite(TestDatabase database) throws Exception {
		try (Nodes nodes = new Nodes(database, 6)) {
			LockTemplate exclusive = new LockTemplate(() -> new HandoverLockBackend(nodes.first), List::of)
				.withWaitTime(PATIENCE);
			HikariPoolMXBean pool = nodes.firstPool.getHikariPoolMXBean();
			try {
				LockTemplate shared = exclusive.withMode(LockRequest.Mode.SHARED).withName("reader");
				shared.run("A", () -> {
					shared.run("A", () -> assertThat(pool.getActiveConnections()).isOne());
					assertThatIllegalStateException().isThrownBy(() -> exclusive.run("A", () -> {
					})).withMessageContaining("cannot become exclusive");
					exclusive.run("B", () -> {
					});
				});
				exclusive.run("A", () -> shared.run("A", () -> assertThat(pool.getActiveConnections()).isZero()));
			}
			finally {
				TemplateAccess.close(exclusive);
			}
			nodes.assertNothingIsKept();
		}
	}

	@Test
	void h2RefusesThem() throws Exception {
		try (Nodes nodes = new Nodes(TestDatabase.H2, 4)) {
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> nodes.first.acquire(shared(NO_WAIT)))
				.withMessageContaining("Lock exclusively, or use a database");
			nodes.assertNothingIsKept();
		}
	}

	private static LockRequest shared(Duration waitTime) {
		return request("k", LockRequest.Mode.SHARED, waitTime);
	}

	private static LockRequest exclusive(Duration waitTime) {
		return request("k", LockRequest.Mode.EXCLUSIVE, waitTime);
	}

	private static LockRequest request(String key, LockRequest.Mode mode) {
		return request(key, mode, PATIENCE);
	}

	private static LockRequest request(String key, LockRequest.Mode mode, Duration waitTime) {
		return new LockRequest(key, "test", mode, false, waitTime, LEASE, UUID.randomUUID().toString(), "test", 0);
	}

	private static boolean released(@Nullable LockLease lease) {
		assertThat(lease).isNotNull();
		return lease.release().toCompletableFuture().join();
	}

	private static FutureTask<@Nullable LockLease> start(Callable<@Nullable LockLease> call) {
		FutureTask<@Nullable LockLease> task = new FutureTask<>(call);
		new Thread(task).start();
		return task;
	}

	/**
	 * Two nodes on one lock table, and a pool to look at it.
	 */
	private static final class Nodes implements AutoCloseable {

		private final TestDatabase database;

		private final HikariDataSource pool;

		private final HikariDataSource firstPool;

		private final HikariDataSource secondPool;

		private final JdbcTemplate jdbc;

		private final JdbcTemplate firstJdbc;

		private final JdbcLockBackend first;

		private final JdbcLockBackend second;

		private Nodes(TestDatabase database, int size) {
			this.database = database;
			DatabaseAccess access = database.newDatabase();
			this.pool = access.dataSource(2);
			this.firstPool = access.dataSource(size);
			this.secondPool = access.dataSource(size);
			DatabaseAccess.runScript(this.pool, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			this.jdbc = new JdbcTemplate(this.pool);
			this.firstJdbc = new JdbcTemplate(this.firstPool);
			this.first = new JdbcLockBackend(() -> this.firstPool, () -> size);
			this.second = new JdbcLockBackend(() -> this.secondPool, () -> size);
		}

		private void assertNothingIsKept() {
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(this.firstPool.getHikariPoolMXBean().getActiveConnections()).isZero());
		}

		private void endSessionsOfTheFirst() throws SQLException {
			if (this.database == TestDatabase.POSTGRESQL) {
				this.jdbc.queryForList("SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
						+ "WHERE pid <> pg_backend_pid() AND datname = current_database()");
				return;
			}
			this.jdbc
				.queryForList("SELECT id FROM information_schema.processlist WHERE db = database() "
						+ "AND id <> connection_id()", Long.class)
				.forEach((id) -> this.jdbc.execute("KILL " + id));
		}

		private List<String> settings(Connection connection) throws SQLException {
			String sql = (this.database == TestDatabase.POSTGRESQL)
					? "SELECT current_setting('idle_in_transaction_session_timeout')" : "SELECT @@SESSION.wait_timeout";
			try (Statement statement = connection.createStatement(); ResultSet rs = statement.executeQuery(sql)) {
				rs.next();
				return List.of(rs.getString(1), String.valueOf(connection.getAutoCommit()),
						String.valueOf(connection.getTransactionIsolation()));
			}
		}

		@Override
		public void close() {
			this.first.close();
			this.second.close();
			this.firstPool.close();
			this.secondPool.close();
			this.pool.close();
		}

	}

	/**
	 * Gives out one connection, and does not close it: unlike a pool, it puts nothing
	 * back.
	 */
	private static final class UnpooledConnection extends SingleConnectionDataSource {

		private UnpooledConnection(Connection connection) {
			super(connection, true);
		}

	}

}
