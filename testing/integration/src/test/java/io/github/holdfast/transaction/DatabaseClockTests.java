package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The clock of the database jumps by an hour.
 */
class DatabaseClockTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jumpForwardEndsTheLeaseAndTheFirstHolderCannotCommit(TestDatabase database) {
		try (Clock clock = new Clock(database)) {
			StockService stock = new StockService(new JdbcTemplate(clock));
			TransactionTemplate transaction = clock.guardedTransaction();
			LockTemplate first = clock.node();
			LockTemplate second = clock.node();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> first.run("stock:A", () -> {
				int quantity = stock.quantity("A");
				long token = token();
				clock.jump(HOUR);
				onOtherThread(() -> second.run("stock:A", () -> {
					assertThat(token()).isGreaterThan(token);
					transaction.executeWithoutResult((inner) -> stock.write("A", stock.quantity("A") - 1));
				}));
				transaction.executeWithoutResult((status) -> stock.write("A", quantity - 1));
			}));
			assertThat(stock.quantity("A")).isEqualTo(99);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void jumpBackKeepsTheLockOfADeadHolderThatMuchLonger(TestDatabase database) {
		try (Clock clock = new Clock(database)) {
			new JdbcTemplate(clock).execute("SELECT 1");
			LockTemplate dead = clock.node();
			@SuppressWarnings("resource")
			LockTemplate.Scope abandoned = dead.withMaxHoldTime(Duration.ofMillis(1))
				.withLeaseTime(Duration.ofSeconds(3))
				.acquire("stock:A");
			long token = token();
			clock.jump(HOUR.negated());
			onOtherThread(() -> {
				LockTemplate next = clock.node();
				assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> next.withWaitTime(Duration.ofSeconds(1)).acquire("stock:A"))
					.withMessageMatching(".*for another 3[56]\\d{5} ms.*");
				clock.jump(HOUR);
				next.run("stock:A", () -> assertThat(token()).isGreaterThan(token));
			});
			assertThat(LockContext.current()).get().matches((lock) -> !lock.isValid());
			assertThatExceptionOfType(LockLostAfterWorkException.class).isThrownBy(abandoned::close);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void tokensRiseAndALivingHolderIsNotDisturbedWhenTheClockJumpsBack(TestDatabase database) {
		try (Clock clock = new Clock(database)) {
			StockService stock = new StockService(new JdbcTemplate(clock));
			TransactionTemplate transaction = clock.guardedTransaction();
			LockTemplate first = clock.node();
			LockTemplate second = clock.node();
			long[] tokens = new long[2];
			first.run("stock:A", () -> {
				tokens[0] = token();
				clock.jump(HOUR.negated());
				transaction.executeWithoutResult((status) -> stock.write("A", 99));
			});
			second.run("stock:A", () -> tokens[1] = token());
			assertThat(tokens[1]).isGreaterThan(tokens[0]);
			assertThat(stock.quantity("A")).isEqualTo(99);
		}
	}

	private static long token() {
		return LockContext.current().orElseThrow().fencingToken();
	}

	private static void onOtherThread(Runnable work) {
		AtomicReference<Throwable> failure = new AtomicReference<>();
		Thread thread = new Thread(work);
		thread.setUncaughtExceptionHandler((t, ex) -> failure.set(ex));
		thread.start();
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		assertThat(failure.get()).isNull();
	}

	/**
	 * A database with a clock that can be set: PostgreSQL finds a {@code clock_timestamp}
	 * of ours first, MariaDB has a clock for each session. That of H2 cannot be set, so
	 * the times in the table are moved the other way.
	 */
	private static final class Clock extends DelegatingDataSource implements AutoCloseable {

		private final TestDatabase database;

		private final HikariDataSource pool;

		private final List<GuardedNode> nodes = new CopyOnWriteArrayList<>();

		private volatile Duration ahead = Duration.ZERO;

		private Clock(TestDatabase database) {
			this.database = database;
			DatabaseAccess access = database.newDatabase();
			try (HikariDataSource setUp = access.dataSource(1)) {
				DatabaseAccess.runScript(setUp, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
				if (database == TestDatabase.POSTGRESQL) {
					JdbcTemplate jdbc = new JdbcTemplate(setUp);
					jdbc.execute("CREATE SCHEMA fake");
					jdbc.execute("CREATE TABLE fake.clock (ahead interval NOT NULL)");
					jdbc.execute("INSERT INTO fake.clock VALUES (interval '0')");
					jdbc.execute("CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
							+ "'SELECT pg_catalog.clock_timestamp() + ahead FROM fake.clock'");
				}
			}
			this.pool = ((database == TestDatabase.POSTGRESQL) ? new DatabaseAccess(
					access.url() + "?currentSchema=fake,public,pg_catalog", access.user(), access.password()) : access)
				.dataSource(6);
			setTargetDataSource(this.pool);
		}

		private LockTemplate node() {
			return guarded().locks().withWaitTime(Duration.ofSeconds(60));
		}

		private TransactionTemplate guardedTransaction() {
			JdbcTransactionManager manager = new JdbcTransactionManager(this);
			guarded(manager);
			return new TransactionTemplate(manager);
		}

		private GuardedNode guarded(PlatformTransactionManager... managers) {
			JdbcLockBackend backend = new JdbcLockBackend(() -> this);
			GuardedNode node = new GuardedNode(backend, RowClaims.of(backend, false), managers);
			this.nodes.add(node);
			return node;
		}

		private void jump(Duration jump) {
			this.ahead = this.ahead.plus(jump);
			JdbcTemplate jdbc = new JdbcTemplate(this.pool);
			switch (this.database) {
				case H2 -> {
					long micros = TimeUnit.SECONDS.toMicros(jump.toSeconds());
					jdbc.update("UPDATE holdfast_lock SET expires_at = expires_at - ? WHERE expires_at > 0", micros);
				}
				case POSTGRESQL ->
					jdbc.update("UPDATE fake.clock SET ahead = interval '" + this.ahead.toSeconds() + " seconds'");
				case MARIADB -> {
					// Set when a connection is borrowed
				}
			}
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			if (this.database == TestDatabase.MARIADB) {
				try (Statement statement = connection.createStatement()) {
					statement.execute("SET timestamp = unix_timestamp(sysdate(6)) + " + this.ahead.toSeconds());
				}
			}
			return connection;
		}

		@Override
		public void close() {
			this.nodes.forEach(GuardedNode::close);
			this.pool.close();
		}

	}

}
