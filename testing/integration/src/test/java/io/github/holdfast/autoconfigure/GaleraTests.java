package io.github.holdfast.autoconfigure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GaleraCluster;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A real cluster whose servers both take writes: it passes the proof of row locks, as
 * each server has them, and is refused all the same.
 */
@Tag("long")
@EnabledIf(value = "io.github.holdfast.testsupport.GaleraCluster#isInstalled",
		disabledReason = "mariadb-server and galera-4 are not installed")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class GaleraTests {

	private static final int STOCK = 100;

	private static final Executor THREADS = (task) -> new Thread(task).start();

	private final AtomicInteger runs = new AtomicInteger();

	private final GaleraCluster cluster = GaleraCluster.start();

	@AfterAll
	void stop() {
		this.cluster.close();
	}

	@Test
	void startsOnlyIfOneWriterIsDeclared() throws SQLException {
		create("refused");
		LockedApplication.jdbc(this.cluster.access(0, "refused"))
			.withPropertyValues("holdfast.backend=jdbc")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("a Galera cluster ('wsrep_on' is on)"));
		LockedApplication.jdbc(this.cluster.access(0, "refused"))
			.withPropertyValues("holdfast.backend=jdbc", "holdfast.database.single-writer=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * Why it is refused: a commit that has its row locked is passed by the next holder,
	 * and finds out only if it is still open then.
	 */
	@Test
	void rowLockOfACommitKeepsNobodyOutOnTheOtherServer() throws SQLException {
		create("passed");
		DatabaseAccess there = this.cluster.access(1, "passed");
		try (HikariDataSource first = this.cluster.access(0, "passed").dataSource(2);
				HikariDataSource second = there.dataSource(2)) {
			JdbcTemplate one = new JdbcTemplate(first);
			one.execute("CREATE TABLE lock_row (id int PRIMARY KEY, epoch int)");
			one.execute("INSERT INTO lock_row VALUES (1, 1)");
			await().ignoreExceptions().until(() -> epoch(second) == 1);
			try (Connection holder = first.getConnection(); Statement statement = holder.createStatement()) {
				holder.setAutoCommit(false);
				try (ResultSet rs = statement.executeQuery("SELECT epoch FROM lock_row LOCK IN SHARE MODE")) {
					assertThat(rs.next()).isTrue();
				}
				assertThatExceptionOfType(RuntimeException.class).as("on the same server")
					.isThrownBy(() -> one
						.execute("SET STATEMENT innodb_lock_wait_timeout = 0 FOR UPDATE lock_row SET epoch = 2"));
				new JdbcTemplate(second).update("UPDATE lock_row SET epoch = 2");
				assertThat(epoch(second)).as("committed on the other one").isEqualTo(2);
				await().until(() -> epoch(first) == 2);
				assertThatExceptionOfType(SQLException.class).as("as it was still open").isThrownBy(holder::commit);
			}
		}
	}

	/**
	 * Why it is refused, as a user would notice: a holder that was superseded commits on
	 * its server, which has not heard of its successor yet, and the successor has not
	 * seen on the other one what it overwrites. So a number is given twice, and the
	 * holder is told when it is too late.
	 */
	@Test
	void supersededHolderCommitsOnTheOtherServer() throws SQLException {
		assertThat(numbersGivenTwice("two_writers", 1, LockLostAfterWorkException.class)).isOne();
	}

	@Test
	void supersededHolderIsRefusedOnTheSameServer() throws SQLException {
		assertThat(numbersGivenTwice("one_writer", 0, LockLostException.class)).isZero();
	}

	/**
	 * As long as nobody is superseded, nodes on both servers are kept apart: each
	 * transaction lock writes its row, and each lease is a commit that follows all
	 * earlier ones.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "holdfast.backend=jdbc", "holdfast.backend=jdbc,holdfast.jdbc.mode=lease",
			"holdfast.backend=redis" })
	void locksOnBothServersSellNothingTwice(String properties) throws SQLException {
		assertThat(sold(properties.split(","))).isEqualTo(STOCK);
	}

	@Test
	void withoutLocksBothServersSellMoreThanThereIs() throws SQLException {
		int sold = STOCK;
		for (int i = 0; i < 10 && sold == STOCK; i++) {
			sold = sold("holdfast.enabled=false");
		}
		assertThat(sold).isGreaterThan(STOCK);
	}

	/**
	 * What a transaction lock is on two servers: optimistic.
	 */
	@Test
	void secondOfTwoTransactionLocksIsRefusedAtItsCommit() throws SQLException {
		onBothServers("met", (first, second) -> {
			first.getBean(Shop.class).sell(Thread::yield);
			await().until(() -> sales(second) == 1);
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> first.getBean(Shop.class).sell(elsewhere(() -> {
					second.getBean(Shop.class).sell(Thread::yield);
					assertThat(sales(second)).as("committed on the other one").isEqualTo(2);
				})));
			assertThat(sales(first)).isEqualTo(2);
		}, "holdfast.backend=jdbc");
	}

	/**
	 * Why it is refused, with nothing that fails: a shared lock writes nothing that the
	 * other server could compare.
	 */
	@Test
	void sharedLockKeepsNobodyOutOnTheOtherServer() throws SQLException {
		onBothServers("shared", (first, second) -> {
			first.getBean(Shop.class).sell(Thread::yield);
			await().until(() -> sales(second) == 1);
			LockTemplate readers = first.getBean(LockTemplate.class).withMode(LockMode.SHARED);
			assertThatExceptionOfType(LockLostAfterWorkException.class).as("told too late")
				.isThrownBy(() -> readers.run("stock", elsewhere(() -> {
					assertThatExceptionOfType(LockNotAcquiredException.class).as("on the same server")
						.isThrownBy(() -> first.getBean(LockTemplate.class)
							.withWaitTime(Duration.ofMillis(100))
							.run("stock", Thread::yield));
					assertThat(sales(first)).isOne();
					second.getBean(Shop.class).sell(Thread::yield);
					await("another answer under the same lock").until(() -> sales(first) == 2);
				})::run));
		}, "holdfast.backend=jdbc");
	}

	private int sold(String... properties) throws SQLException {
		AtomicInteger sold = new AtomicInteger();
		onBothServers("sales_" + this.runs.incrementAndGet(), (first, second) -> {
			CompletableFuture
				.allOf(Stream.of(first, second, first, second)
					.map((node) -> CompletableFuture.runAsync(() -> sellAll(node.getBean(Shop.class)), THREADS))
					.toArray(CompletableFuture[]::new))
				.join();
			sold.set(sales(first));
		}, properties);
		return sold.get();
	}

	private static void sellAll(Shop shop) {
		boolean more = true;
		while (more) {
			try {
				more = shop.sell(Thread::yield);
			}
			catch (ConcurrencyFailureException ex) {
				// Rolled back, as the cluster may do at any time: once more
			}
		}
	}

	private void onBothServers(String database, BiConsumer<ApplicationContext, ApplicationContext> work,
			String... properties) throws SQLException {
		create(database);
		node(database, 0).withBean(Shop.class).withPropertyValues(properties).run((first) -> {
			first.getBean(JdbcTemplate.class).execute("CREATE TABLE sale (id varchar(36) PRIMARY KEY)");
			node(database, 1).withBean(Shop.class).withPropertyValues(properties).run((second) -> {
				await().ignoreExceptions().until(() -> sales(second) == 0);
				work.accept(first, second);
			});
		});
	}

	private static int sales(ApplicationContext node) {
		return number(node.getBean(JdbcTemplate.class), "SELECT count(*) FROM sale");
	}

	private static Runnable elsewhere(Runnable body) {
		return () -> CompletableFuture.runAsync(body, THREADS).join();
	}

	private int numbersGivenTwice(String database, int secondServer, Class<? extends RuntimeException> told)
			throws SQLException {
		create(database);
		AtomicInteger twice = new AtomicInteger();
		node(database, 0).run((first) -> {
			JdbcTemplate jdbc = first.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE invoice (id varchar(36) PRIMARY KEY, number int NOT NULL)");
			jdbc.execute("CREATE TABLE other_work (id int PRIMARY KEY, text varchar(1000))");
			node(database, secondServer).run((second) -> {
				JdbcTemplate there = second.getBean(JdbcTemplate.class);
				await().ignoreExceptions().until(() -> invoices(there) == 0);
				CountDownLatch read = new CountDownLatch(1);
				CountDownLatch superseded = new CountDownLatch(1);
				CompletableFuture<Void> holder = CompletableFuture.runAsync(() -> issue(first, () -> {
					read.countDown();
					superseded.await();
				}));
				read.await();
				RedisServer.shared().command("FLUSHALL");
				// The first server is busy with it when the successor is there
				there.update("INSERT INTO other_work SELECT seq, repeat('x', 1000) FROM seq_1_to_200000");
				issue(second, superseded::countDown);
				assertThatExceptionOfType(CompletionException.class).isThrownBy(holder::join).withCauseInstanceOf(told);
				twice.set(Objects.requireNonNull(
						jdbc.queryForObject("SELECT count(*) - count(DISTINCT number) FROM invoice", Integer.class)));
			});
		});
		return twice.get();
	}

	private ApplicationContextRunner node(String database, int server) throws SQLException {
		return LockedApplication.jdbc(this.cluster.access(server, database))
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("holdfast.backend=redis", "holdfast.commit-guard=fence",
					"holdfast.jdbc.initialize-schema=always", "holdfast.database.single-writer=true",
					"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + RedisServer.shared().port());
	}

	/**
	 * Two transactions, so that the lock is asked for when the second one commits.
	 */
	private static void issue(ApplicationContext node, Step beforeCommit) {
		JdbcTemplate jdbc = node.getBean(JdbcTemplate.class);
		TransactionTemplate transaction = new TransactionTemplate(node.getBean(PlatformTransactionManager.class));
		node.getBean(LockTemplate.class).run("invoices", () -> {
			transaction.executeWithoutResult((status) -> invoices(jdbc));
			transaction.executeWithoutResult((status) -> {
				int number = invoices(jdbc) + 1;
				beforeCommit.runUnchecked();
				jdbc.update("INSERT INTO invoice VALUES (?, ?)", UUID.randomUUID().toString(), number);
			});
		});
	}

	/**
	 * Sells as long as there is something left, which no row says: two sales write none
	 * in common.
	 */
	static class Shop {

		private final JdbcTemplate jdbc;

		Shop(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional
		public boolean sell(Runnable whileRead) {
			if (number(this.jdbc, "SELECT count(*) FROM sale") >= STOCK) {
				return false;
			}
			whileRead.run();
			this.jdbc.update("INSERT INTO sale VALUES (?)", UUID.randomUUID().toString());
			return true;
		}

	}

	private interface Step {

		void run() throws Exception;

		default void runUnchecked() {
			try {
				run();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	private static int invoices(JdbcTemplate jdbc) {
		return number(jdbc, "SELECT count(*) FROM invoice");
	}

	private static int number(JdbcTemplate jdbc, String sql) {
		return Objects.requireNonNull(jdbc.queryForObject(sql, Integer.class));
	}

	private static int epoch(HikariDataSource dataSource) {
		return new JdbcTemplate(dataSource).queryForObject("SELECT epoch FROM lock_row", Integer.class);
	}

	private void create(String database) throws SQLException {
		try (HikariDataSource here = this.cluster.access(0, "").dataSource(1);
				HikariDataSource there = this.cluster.access(1, "").dataSource(1)) {
			new JdbcTemplate(here).execute("CREATE DATABASE " + database);
			JdbcTemplate jdbc = new JdbcTemplate(there);
			await().until(() -> jdbc.queryForList("SHOW DATABASES", String.class).contains(database));
		}
	}

}
