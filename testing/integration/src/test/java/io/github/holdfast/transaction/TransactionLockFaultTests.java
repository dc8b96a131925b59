package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.jdbc.DocumentedGrants;
import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.transaction.TransactionLockWorker.Shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/** A node dies, stops or loses its session while its transaction has the row locked. */
@Timeout(180)
class TransactionLockFaultTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration SHORT = Duration.ofSeconds(1);

	/** Longer than any wait here: nothing may depend on its end. */
	private static final Duration LONG = Duration.ofMinutes(10);

	@ParameterizedTest
	@CsvSource({ "MARIADB, WRITTEN", "POSTGRESQL, CHECKED" })
	void killedHolderFreesItsRowAtOnce(TestDatabase database, String point) throws Exception {
		run(database, LONG, (warehouse) -> {
			try (ChildJvm holder = warehouse.holder("")) {
				warehouse.stopAt(holder, point);
				holder.kill();
				warehouse.sell();
				assertThat(warehouse.quantity()).as("without the sale of the dead one").isEqualTo(97);
			}
		});
	}

	/**
	 * Without such a limit, the row stays locked for as long as the transaction is open.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB, ?sessionVariables=idle_transaction_timeout=1",
			"POSTGRESQL, ?options=-c%20idle_in_transaction_session_timeout=1000" })
	void othersGoOnWhenTheDatabaseHasEndedTheTransactionOfAPausedHolder(TestDatabase database, String idle)
			throws Exception {
		run(database, LONG, (warehouse) -> {
			try (ChildJvm holder = warehouse.holder(idle)) {
				warehouse.stopAt(holder, "READ");
				holder.pause();
				warehouse.sell();
				holder.resume();
				holder.send("go on");
				holder.await("REJECTED ", PATIENCE);
				assertThat(warehouse.quantity()).isEqualTo(97);
			}
		});
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, READ", "POSTGRESQL, READ", "MARIADB, WRITTEN", "POSTGRESQL, WRITTEN", "MARIADB, CHECKED",
			"POSTGRESQL, CHECKED" })
	void holderWhoseSessionIsEndedCannotCommit(TestDatabase database, String point) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			String outcome = TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals(point)) {
					JdbcTemplate session = new JdbcTemplate(holder.getBean(DataSource.class));
					warehouse.jdbc.execute((database == TestDatabase.MARIADB)
							? "KILL " + number(session, "SELECT connection_id()")
							: "SELECT pg_terminate_backend(" + number(session, "SELECT pg_backend_pid()") + ")");
					warehouse.sell();
				}
			});
			assertThat(outcome).matches(TransactionLockFaultTests::isDocumented);
			assertThat(warehouse.quantity()).isEqualTo(97);
			assertThat(TransactionLockWorker.sell(holder, (at) -> {
			})).isEqualTo("COMMITTED");
		}));
	}

	/** One process of the server crashes, so that all of it is started again. */
	@ParameterizedTest
	@CsvSource("POSTGRESQL, CHECKED")
	void holderCannotCommitAfterARestartOfTheDatabase(TestDatabase database, String point) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			String outcome = TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals(point)) {
					// It does not wait for its log when it commits
					warehouse.jdbc.execute("CHECKPOINT");
					crash(number(warehouse.jdbc, "SELECT pg_backend_pid()"));
					await().atMost(PATIENCE).ignoreExceptions().until(() -> warehouse.quantity() == 98);
					await().atMost(PATIENCE).until(() -> warehouse.outcome().equals("COMMITTED"));
				}
			});
			assertThat(outcome).matches(TransactionLockFaultTests::isDocumented);
			await().atMost(PATIENCE).ignoreExceptions().until(() -> warehouse.quantity() == 97);
			await().atMost(PATIENCE).until(() -> TransactionLockWorker.sell(holder, (at) -> {
			}).equals("COMMITTED"));
		}));
	}

	/** The database has decided, so nobody is kept out. */
	@ParameterizedTest
	@CsvSource({ "MARIADB, BREAK_COMMITS", "POSTGRESQL, BREAK_COMMITS", "MARIADB, LATE_COMMITS",
			"POSTGRESQL, LATE_COMMITS" })
	void rowIsFreeWhenTheOutcomeOfACommitIsUnknown(TestDatabase database, FaultProxy.Fault fault) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.behindAProxy(database, (proxy, holder) -> {
			String outcome = TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals("CHECKED")) {
					proxy.inject(fault);
				}
			});
			assertThat(outcome).matches(TransactionLockFaultTests::isDocumented);
			assertThat(proxy.brokenCommits()).isOne();
			proxy.inject(FaultProxy.Fault.NONE);
			warehouse.sell();
			assertThat(warehouse.quantity()).as("what nobody was told, and another one").isEqualTo(96);
			assertThat(TransactionLockWorker.sell(holder, (at) -> {
			})).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(95);
		}));
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void waitEndsInTimeAndTheHolderGoesOn(TestDatabase database) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			Shop shop = warehouse.node.getBean(Shop.class);
			shop.sellSoon();
			assertThat(TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals("READ")) {
					assertThat(failureOf(shop::sellSoon))
						.isInstanceOfSatisfying(LockNotAcquiredException.class,
								(ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY))
						.hasMessageContaining("an open transaction");
				}
			})).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(96);
		}));
	}

	/** An operator works on the table. */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	@Tag("long")
	void callEndsAlthoughTheLockTableIsLocked(TestDatabase database) throws Exception {
		run(database, LONG, (warehouse) -> {
			Shop shop = warehouse.node.getBean(Shop.class);
			shop.sellSoon();
			shop.sellSoonUnderTwoLocks();
			shop.sellSoonUnderTwoLocks();
			ThrowingCallable lease = () -> warehouse.node.getBean(LockTemplate.class)
				.withWaitTime(Duration.ofSeconds(1))
				.acquire("stock")
				.close();
			boolean postgres = database == TestDatabase.POSTGRESQL;
			try (Connection operator = warehouse.jdbc.getDataSource().getConnection();
					Statement statement = operator.createStatement()) {
				statement.execute(postgres ? "BEGIN; LOCK TABLE holdfast_lock IN ACCESS EXCLUSIVE MODE"
						: "LOCK TABLES holdfast_lock WRITE");
				assertThat(failureOf(shop::sellSoon)).isInstanceOf(LockBackendException.class);
				assertThat(failureOf(shop::sellSoonUnderTwoLocks)).isInstanceOf(LockBackendException.class);
				assertThat(failureOf(lease::call)).isInstanceOf(LockBackendException.class);
				statement.execute(postgres ? "ROLLBACK" : "UNLOCK TABLES");
			}
			shop.sellSoon();
			assertThat(failureOf(lease)).isNull();
		});
	}

	/** There is no lease, and the database has no time-out for it. */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void holderThatIdlesForLongerThanTheLeaseTimeCommits(TestDatabase database) throws Exception {
		run(database, SHORT, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			String outcome = TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals("READ")) {
					long end = System.nanoTime() + SHORT.plusSeconds(1).toNanos();
					await().atMost(PATIENCE).until(() -> System.nanoTime() - end > 0);
				}
			});
			assertThat(outcome).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(97);
		}));
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void timeOutOfATransactionDoesNotCountTheWait(TestDatabase database) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			Shop shop = warehouse.node.getBean(Shop.class);
			shop.sellQuickly();
			CompletableFuture<Throwable> waiter = new CompletableFuture<>();
			assertThat(TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals("READ")) {
					waiter.completeAsync(() -> catchThrowable(shop::sellQuickly));
					long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();
					await().atMost(PATIENCE).until(() -> System.nanoTime() - end > 0);
				}
			})).isEqualTo("COMMITTED");
			assertThat(waiter.orTimeout(60, TimeUnit.SECONDS).join()).isNull();
			assertThat(warehouse.quantity()).isEqualTo(95);
		}));
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void threadThatWaitsInTheDatabaseIsInterrupted(TestDatabase database) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			assertThat(TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals("READ")) {
					Waiter waiter = warehouse.startWaiter();
					waiter.thread.interrupt();
					assertThat(waiter.outcome.orTimeout(60, TimeUnit.SECONDS).join()).startsWith("REJECTED LockNotAcq")
						.contains("interrupted");
				}
			})).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(97);
			warehouse.sell();
		}));
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void threadThatWaitsInTheDatabaseEndsWithItsApplication(TestDatabase database) throws Exception {
		run(database, LONG, (warehouse) -> warehouse.onAnotherNode((holder) -> {
			assertThat(TransactionLockWorker.sell(holder, (at) -> {
				if (at.equals("READ")) {
					Waiter waiter = warehouse.startWaiter();
					((ConfigurableApplicationContext) warehouse.node).close();
					assertThat(waiter.outcome.orTimeout(60, TimeUnit.SECONDS).join()).startsWith("REJECTED LockNotAcq")
						.contains("shut");
				}
			})).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(97);
		}));
	}

	/** What Spring makes of a broken connection. */
	private static boolean isDocumented(String outcome) {
		return outcome.startsWith("REJECTED TransactionSystemException: JDBC ")
				|| outcome.startsWith("REJECTED DataAccessResourceFailureException: JDBC ");
	}

	private static void crash(int process) {
		ProcessHandle handle = ProcessHandle.of(process).orElseThrow();
		handle.destroyForcibly();
		handle.onExit().join();
	}

	private static Throwable failureOf(ThrowingCallable call) {
		return CompletableFuture.supplyAsync(() -> catchThrowable(call)).orTimeout(60, TimeUnit.SECONDS).join();
	}

	private static int number(JdbcTemplate jdbc, String sql) {
		return jdbc.queryForObject(sql, Integer.class);
	}

	private static void run(TestDatabase database, Duration leaseTime, ThrowingConsumer<Warehouse> scenario)
			throws Exception {
		DatabaseAccess owner = database.newDatabase();
		try (HikariDataSource admin = owner.dataSource(2)) {
			JdbcTemplate jdbc = new JdbcTemplate(admin);
			database.createLockTable(admin);
			LockedShop.createTables(jdbc);
			List<String> grants = new ArrayList<>(DocumentedGrants.statements());
			grants.add("GRANT SELECT, UPDATE ON stock TO shop_app");
			DatabaseAccess user = database.newUser(owner, grants);
			TransactionLockWorker.application(user, leaseTime).run((node) -> {
				assertThat(node).hasNotFailed();
				Warehouse warehouse = new Warehouse(user, leaseTime, jdbc, node);
				warehouse.sell();
				scenario.accept(warehouse);
			});
		}
	}

	private static boolean isWait(String sql) {
		return sql.contains("UPDATE holdfast_lock SET epoch") && !sql.contains("SKIP LOCKED");
	}

	/** A thread that sells. */
	private record Waiter(Thread thread, CompletableFuture<String> outcome) {

	}

	/** The stock, and a node in this JVM. */
	private record Warehouse(DatabaseAccess access, Duration leaseTime, JdbcTemplate jdbc, ApplicationContext node) {

		/** Another node, which has sold once. */
		ChildJvm holder(String settings) throws InterruptedException {
			ChildJvm holder = ChildJvm.start(TransactionLockWorker.class, this.access.url() + settings,
					this.access.user(), this.access.password(), this.leaseTime.toString());
			holder.send("no pause");
			holder.await("COMMITTED", PATIENCE);
			return holder;
		}

		/** Let a node sell, and stop with the row locked. */
		void stopAt(ChildJvm holder, String point) throws InterruptedException {
			holder.send(point);
			holder.await(point, PATIENCE);
			assertThat(this.jdbc.queryForList(
					"SELECT lock_key FROM holdfast_lock WHERE lock_key = 'holdfast:stock' FOR UPDATE SKIP LOCKED",
					String.class))
				.as("rows that nobody has locked")
				.isEmpty();
		}

		/** Sell on the node of this JVM, by a thread of its own. */
		void sell() {
			assertThat(outcome()).isEqualTo("COMMITTED");
		}

		String outcome() {
			return CompletableFuture.supplyAsync(() -> TransactionLockWorker.sell(this.node, (point) -> {
			})).orTimeout(60, TimeUnit.SECONDS).join();
		}

		/** With another node in this JVM, which has sold once. */
		void onAnotherNode(Consumer<ApplicationContext> scenario) {
			onAnotherNode(this.access, scenario);
		}

		private void onAnotherNode(DatabaseAccess access, Consumer<ApplicationContext> scenario) {
			TransactionLockWorker.application(access, this.leaseTime).run((other) -> {
				assertThat(TransactionLockWorker.sell(other, (point) -> {
				})).isEqualTo("COMMITTED");
				scenario.accept(other);
			});
		}

		/** The same with a network of its own. */
		void behindAProxy(TestDatabase database, BiConsumer<FaultProxy, ApplicationContext> scenario) {
			String timeout = (database == TestDatabase.MARIADB) ? "?socketTimeout=5000&connectTimeout=5000"
					: "?socketTimeout=5&connectTimeout=5";
			try (FaultProxy proxy = new FaultProxy(this.access.port())) {
				onAnotherNode(this.access.onPort(proxy.port()).with(timeout), (other) -> scenario.accept(proxy, other));
			}
		}

		/** Start a sale of the node, which then waits in the database. */
		Waiter startWaiter() {
			RecordingDataSource dataSource = (RecordingDataSource) this.node.getBean(DataSource.class);
			dataSource.clear();
			CompletableFuture<String> outcome = new CompletableFuture<>();
			Thread thread = new Thread(() -> outcome.complete(TransactionLockWorker.sell(this.node, (point) -> {
			})));
			thread.start();
			await().atMost(PATIENCE)
				.until(() -> dataSource.statements().stream().anyMatch(TransactionLockFaultTests::isWait));
			return new Waiter(thread, outcome);
		}

		int quantity() {
			return number(this.jdbc, "SELECT quantity FROM stock");
		}

	}

}
