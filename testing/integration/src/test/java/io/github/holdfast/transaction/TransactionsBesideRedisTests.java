package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.ResourcelessTransactionManager;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Transactions that support others, have listeners, no resources, or are rolled back. */
@Timeout(180)
class TransactionsBesideRedisTests {

	private static final int POOL = 4;

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "H2, true", "MARIADB, true", "MARIADB, false", "POSTGRESQL, false" })
	void asManyCallsAsConnectionsDoNotWaitForEachOther(TestDatabase database, boolean autoCommit) {
		RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"holdfast.wait-time=60s", "spring.datasource.hikari.maximum-pool-size=" + POOL,
					"spring.datasource.hikari.connection-timeout=15000",
					"spring.datasource.hikari.auto-commit=" + autoCommit)
			.withBean(Shelf.class)
			.withBean(Reader.class)
			.run((context) -> {
				Shelf stock = context.getBean(Shelf.class);
				stock.create();
				Reader reader = context.getBean(Reader.class);
				CyclicBarrier allHaveRead = new CyclicBarrier(POOL);
				ExecutorService requests = Executors.newFixedThreadPool(POOL);
				try {
					List<CompletableFuture<Void>> calls = new ArrayList<>();
					for (int i = 0; i < POOL; i++) {
						int sku = i;
						calls.add(CompletableFuture.runAsync(() -> reader.readThenTake(sku, allHaveRead), requests));
					}
					assertThat(CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new))).succeedsWithin(120,
							TimeUnit.SECONDS);
				}
				finally {
					requests.shutdownNow();
				}
				assertThat(stock.sum()).isEqualTo(100 * POOL - POOL);
			});
	}

	static class Reader {

		private final Shelf stock;

		Reader(Shelf stock) {
			this.stock = stock;
		}

		@Transactional(propagation = Propagation.SUPPORTS, readOnly = true)
		public void readThenTake(int sku, CyclicBarrier allHaveRead) {
			this.stock.sum();
			try {
				allHaveRead.await(60, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			this.stock.take(sku);
		}

	}

	static class Shelf {

		private final JdbcTemplate jdbc;

		Shelf(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		public void create() {
			this.jdbc.execute("CREATE TABLE stock (sku integer PRIMARY KEY, quantity integer NOT NULL)");
			for (int sku = 0; sku < POOL; sku++) {
				this.jdbc.update("INSERT INTO stock VALUES (?, 100)", sku);
			}
		}

		@DistributedLock(key = "#sku")
		@Transactional
		public void take(int sku) {
			this.jdbc.update("UPDATE stock SET quantity = quantity - 1 WHERE sku = ?", sku);
		}

		public int sum() {
			return this.jdbc.queryForObject("SELECT sum(quantity) FROM stock", Integer.class);
		}

	}

	private static final String ENTRY = "INSERT INTO entry VALUES (1)";

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, READ_COMMITTED, true", "POSTGRESQL, READ_COMMITTED, false",
			"POSTGRESQL, REPEATABLE_READ, false", "MARIADB, REPEATABLE_READ, true", "MARIADB, REPEATABLE_READ, false",
			"H2, READ_COMMITTED, false" })
	void rowOfTheBeginIsCommittedAndRolledBackWithTheTransaction(TestDatabase database, String isolation,
			boolean autoCommit) {
		application(database, isolation, autoCommit).run((context) -> {
			Work work = context.getBean(Work.class);
			work.createTable();
			Begin begin = context.getBean(Begin.class);
			begin.statement = ENTRY;
			for (int i = 1; i <= 3; i++) {
				assertThat(work.underLock(work::entries)).isEqualTo(i);
				assertThatIllegalArgumentException().isThrownBy(() -> work.underLock(() -> {
					throw new IllegalArgumentException("The work fails");
				}));
			}
			begin.statement = null;
			assertThat(work.entries()).isEqualTo(3);
		});
	}

	/** What the body reads afterwards may be as old, and the transaction lock newer. */
	@ParameterizedTest
	@CsvSource({ "H2,READ_COMMITTED", "H2,REPEATABLE_READ", "H2,SERIALIZABLE", "MARIADB,REPEATABLE_READ",
			"POSTGRESQL,REPEATABLE_READ" })
	void transactionThatHasReadAtItsBeginIsUnderALease(TestDatabase database, String isolation) {
		application(database, isolation, true)
			.withPropertyValues("holdfast.backend=jdbc", "holdfast.jdbc.initialize-schema=always")
			.run((context) -> {
				Work work = context.getBean(Work.class);
				work.createTable();
				work.underLock(work::entries);
				context.getBean(Begin.class).statement = "SELECT count(*) FROM entry";
				assertThat(work.underLock(work::leases)).isOne();
			});
	}

	/** If it were refused, the transaction of the body would stay on the thread. */
	@ParameterizedTest
	@CsvSource({ "H2,redis", "MARIADB,redis", "POSTGRESQL,redis", "H2,jdbc", "MARIADB,jdbc", "POSTGRESQL,jdbc" })
	void listenerMayCommitATransactionOfItsOwn(TestDatabase database, String backend) {
		application(database, "READ_COMMITTED", true)
			.withPropertyValues("holdfast.backend=" + backend, "holdfast.jdbc.initialize-schema=always")
			.run((context) -> {
				Work work = context.getBean(Work.class);
				work.createTable();
				for (int i = 0; i < 3; i++) {
					work.underLock(work::entries);
				}
				TransactionTemplate own = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
				own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
				context.getBean(Begin.class).once(() -> own.executeWithoutResult((status) -> work.add()));
				work.underLock(work::add);
				assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
				work.underLock(work::add);
				CompletableFuture.runAsync(() -> assertThat(work.entries()).isEqualTo(3)).join();
			});
	}

	private ApplicationContextRunner application(TestDatabase database, String isolation, boolean autoCommit) {
		return RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"spring.datasource.hikari.auto-commit=" + autoCommit,
					"spring.datasource.hikari.transaction-isolation=TRANSACTION_" + isolation)
			.withBean(Begin.class)
			.withBean(Work.class);
	}

	/** Runs a statement in each transaction. Spring Boot tells it of all of them. */
	static class Begin implements TransactionExecutionListener {

		private final ObjectProvider<JdbcTemplate> jdbc;

		private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

		private volatile @Nullable String statement;

		Begin(ObjectProvider<JdbcTemplate> jdbc) {
			this.jdbc = jdbc;
		}

		void once(Runnable action) {
			this.next.set(action);
		}

		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
			String sql = this.statement;
			if (sql != null && beginFailure == null) {
				this.jdbc.getObject().execute(sql);
			}
			Runnable action = this.next.getAndSet(null);
			if (action != null) {
				action.run();
			}
		}

	}

	static class Work {

		private final JdbcTemplate jdbc;

		Work(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		public void createTable() {
			this.jdbc.execute("CREATE TABLE entry (number integer)");
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public <T> T underLock(Supplier<T> body) {
			return body.get();
		}

		public int add() {
			return this.jdbc.update("INSERT INTO entry VALUES (1)");
		}

		public @Nullable Integer leases() {
			return this.jdbc.queryForObject("SELECT count(*) FROM holdfast_lock WHERE owner IS NOT NULL",
					Integer.class);
		}

		public @Nullable Integer entries() {
			return this.jdbc.queryForObject("SELECT count(*) FROM entry", Integer.class);
		}

	}

	/** Error 1020, where a row has changed since the snapshot. */
	@ParameterizedTest
	@CsvSource({ "OFF", "ON" })
	void noUpdateIsLostAfterARecordHasChanged(String snapshotIsolation) {
		DatabaseAccess access = TestDatabase.MARIADB.newDatabase();
		ApplicationContextRunner node = RedisStore.REDIS
			.application(new DatabaseAccess(
					access.url() + "?sessionVariables=innodb_snapshot_isolation=" + snapshotIsolation, access.user(),
					access.password()), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"holdfast.wait-time=2s")
			.withBean(Stock.class);
		node.run((first) -> node.run((second) -> {
			Stock stock = first.getBean(Stock.class);
			stock.createTable();
			for (int i = 0; i < 3; i++) {
				stock.take(0, () -> {
				}, () -> {
				});
			}
			Sales sales = new Sales();
			boolean[] otherHasSold = new boolean[1];
			Throwable refusal = sales.sell(1, () -> stock.take(1, stock::changeLabelMeanwhile, () -> {
				this.redis.command("FLUSHALL");
				otherHasSold[0] = sales.sellMeanwhile(5, () -> second.getBean(Stock.class).take(5, () -> {
				}, () -> {
				})) == null;
			}));
			assertThat(stock.wasRolledBack()).isEqualTo(snapshotIsolation.equals("ON"));
			assertThat(otherHasSold[0]).isEqualTo(stock.wasRolledBack());
			sales.assertNoneIsLostIn(stock.quantity());
			if (stock.wasRolledBack()) {
				assertThat(refusal).isInstanceOf(PessimisticLockingFailureException.class);
			}
		}));
	}

	/** The database has answered, so the end is known, and the lease is given back. */
	@Test
	void lockIsFreeAfterATriggerHasRefusedTheCommit() {
		LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withBean(StockService.class)
			.withPropertyValues("holdfast.lease-time=10m")
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
						+ "$$ BEGIN RAISE EXCEPTION 'refused'; END $$");
				jdbc.execute("CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON stock "
						+ "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
				LockTemplate locks = context.getBean(LockTemplate.class);
				TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
				assertThatExceptionOfType(RuntimeException.class).isThrownBy(
						() -> locks.run("key", () -> transaction.executeWithoutResult((status) -> stock.write("A", 1))))
					.withStackTraceContaining("refused");
				assertThat(stock.quantity("A")).isEqualTo(100);
				locks.withWaitTime(Duration.ZERO).acquire("key").close();
			});
	}

	static class Stock {

		private final JdbcTemplate jdbc;

		private boolean rolledBack;

		Stock(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		public void createTable() {
			this.jdbc.execute("CREATE TABLE stock (quantity integer NOT NULL, label varchar(10))");
			this.jdbc.update("INSERT INTO stock VALUES (100, '')");
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public void take(int pieces, Runnable whileRead, Runnable whenLabelled) {
			int quantity = quantity();
			whileRead.run();
			try {
				this.jdbc.update("UPDATE stock SET label = 'mine'");
			}
			catch (DataAccessException ex) {
				this.rolledBack = true;
			}
			whenLabelled.run();
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - pieces);
		}

		void changeLabelMeanwhile() {
			CompletableFuture.runAsync(() -> this.jdbc.update("UPDATE stock SET label = 'theirs'")).join();
		}

		public boolean wasRolledBack() {
			return this.rolledBack;
		}

		public int quantity() {
			return this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
		}

	}

	/** How much of the stock of 100 pieces was sold, by what the callers were told. */
	private static final class Sales {

		private final AtomicInteger pieces = new AtomicInteger();

		private @Nullable Throwable sell(int pieces, Runnable sale) {
			Throwable failure = catchThrowable(sale::run);
			if (failure == null) {
				this.pieces.addAndGet(pieces);
			}
			return failure;
		}

		private @Nullable Throwable sellMeanwhile(int pieces, Runnable sale) {
			return CompletableFuture.supplyAsync(() -> sell(pieces, sale)).orTimeout(60, TimeUnit.SECONDS).join();
		}

		private void assertNoneIsLostIn(int quantity) {
			assertThat(quantity).as("what is left after %s acknowledged sales", this.pieces)
				.isEqualTo(100 - this.pieces.get());
		}

	}

	@ParameterizedTest
	@EnumSource
	void callInItsTransactionCommitsItsOwn(TestDatabase database) {
		application(database).run((context) -> assertCallWorks(context, new ResourcelessTransactionManager()));
	}

	@ParameterizedTest
	@EnumSource
	void managerMayBeABean(TestDatabase database) {
		application(database).withUserConfiguration(TwoManagers.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertCallWorks(context, context.getBean(ResourcelessTransactionManager.class));
		});
	}

	@ParameterizedTest
	@EnumSource
	void holderWhoseLockWasReleasedByForceCannotCommit(TestDatabase database) {
		application(database).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.withoutTransaction("A", () -> {
				assertThat(context.getBean(LockManager.class).forceRelease("holdfast:stock:A")).isTrue();
				context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> stock.write("A", 0));
			}));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@Test
	void managerMayBeListedAsUnguarded() {
		application(TestDatabase.H2).withUserConfiguration(TwoManagers.class)
			.withPropertyValues("holdfast.transaction-managers.steps=lease")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertCallWorks(context, context.getBean(ResourcelessTransactionManager.class));
			});
	}

	private static void assertCallWorks(ApplicationContext context, PlatformTransactionManager manager) {
		StockService stock = context.getBean(StockService.class);
		new TransactionTemplate(manager).executeWithoutResult((status) -> {
			stock.take("A", () -> {
			});
			assertThat(CompletableFuture.supplyAsync(() -> stock.quantity("A")).join()).isEqualTo(99);
		});
		assertThat(stock.quantity("A")).isEqualTo(99);
	}

	private ApplicationContextRunner application(TestDatabase database) {
		return RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always")
			.withBean(StockService.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoManagers {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		ResourcelessTransactionManager steps() {
			return new ResourcelessTransactionManager();
		}

	}

}
