package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The database ends a deadlock by rolling back the transaction under a lock.
 */
@Tag("F11")
class DeadlockTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void victimIsRolledBackAndMayTryAgainUnderItsLock(TestBackend backend) {
		backend.application().withBean(StockService.class).run((context) -> {
			CyclicBarrier bothHaveOneRow = new CyclicBarrier(2);
			AtomicInteger victims = new AtomicInteger();
			CompletableFuture<Void> first = CompletableFuture.runAsync(
					() -> takeBoth(context, "A", "B", bothHaveOneRow, victims), (task) -> new Thread(task).start());
			CompletableFuture<Void> second = CompletableFuture.runAsync(
					() -> takeBoth(context, "B", "A", bothHaveOneRow, victims), (task) -> new Thread(task).start());
			CompletableFuture.allOf(first, second).get(120, TimeUnit.SECONDS);
			assertThat(victims).hasPositiveValue();
			StockService stock = context.getBean(StockService.class);
			assertThat(stock.quantity("A")).isEqualTo(98);
			assertThat(stock.quantity("B")).isEqualTo(98);
			assertFree(context, "both:A");
			assertFree(context, "both:B");
		});
	}

	private static void takeBoth(ApplicationContext context, String first, String second, CyclicBarrier bothHaveOneRow,
			AtomicInteger victims) {
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		context.getBean(LockTemplate.class).run("both:" + first, () -> {
			boolean meet = true;
			while (!attempt(transaction, jdbc, first, second, meet ? bothHaveOneRow : new CyclicBarrier(1))) {
				victims.incrementAndGet();
				meet = false;
			}
		});
	}

	private static boolean attempt(TransactionTemplate transaction, JdbcTemplate jdbc, String first, String second,
			CyclicBarrier between) {
		try {
			transaction.executeWithoutResult((status) -> {
				jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = ?", first);
				await(between);
				jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = ?", second);
			});
			return true;
		}
		catch (ConcurrencyFailureException ex) {
			assertThat(ex).isNotInstanceOf(LockLostException.class);
			return false;
		}
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(60, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void assertFree(ApplicationContext context, String key) {
		context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO).acquire(key).close();
	}

	/**
	 * Does all it can so that the database does not choose it as the victim: it is the
	 * older one (H2), looks for deadlocks later (PostgreSQL), and has changed more rows
	 * (MariaDB).
	 */
	private static final class Intruder {

		private final TestDatabase database;

		private final DatabaseAccess access;

		private final CountDownLatch lockRowIsMine = new CountDownLatch(1);

		private final CountDownLatch stockIsWritten = new CountDownLatch(1);

		private final CompletableFuture<Void> ended = new CompletableFuture<>();

		private Intruder(TestDatabase database, DatabaseAccess access) {
			this.database = database;
			this.access = access;
		}

		private void lockTheLockRow() {
			CompletableFuture.runAsync(this::run, (task) -> new Thread(task).start()).whenComplete((result, ex) -> {
				this.lockRowIsMine.countDown();
				if (ex != null) {
					this.ended.completeExceptionally(ex);
				}
				else {
					this.ended.complete(null);
				}
			});
			await(this.lockRowIsMine);
		}

		/**
		 * PostgreSQL looks for a deadlock only once in a wait, after a second: that of
		 * the intruder must not begin later.
		 */
		private void awaitWaiting(JdbcTemplate inTransaction) {
			if (this.database == TestDatabase.POSTGRESQL) {
				Awaitility.await()
					.pollInSameThread()
					.atMost(Duration.ofSeconds(60))
					.until(() -> inTransaction.queryForObject(
							"SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))",
							Long.class), (waiting) -> waiting > 0);
			}
		}

		private static void await(CountDownLatch latch) {
			try {
				assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void run() {
			try (HikariDataSource dataSource = this.access.dataSource(1);
					Connection connection = dataSource.getConnection();
					Statement statement = connection.createStatement()) {
				if (this.database == TestDatabase.MARIADB) {
					statement.execute("CREATE TABLE ballast (id integer PRIMARY KEY)");
				}
				connection.setAutoCommit(false);
				prepare(statement);
				statement.execute("SELECT epoch FROM holdfast_lock FOR UPDATE");
				this.lockRowIsMine.countDown();
				await(this.stockIsWritten);
				statement.execute("UPDATE stock SET quantity = 0 WHERE sku = 'A'");
				connection.rollback();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void prepare(Statement statement) throws SQLException {
			switch (this.database) {
				case H2 -> statement.execute("SET LOCK_TIMEOUT 60000");
				case POSTGRESQL -> statement.execute("SET deadlock_timeout = '60s'");
				case MARIADB -> {
					for (int i = 0; i < 50; i++) {
						statement.executeUpdate("INSERT INTO ballast VALUES (" + i + ")");
					}
				}
			}
		}

	}

}
