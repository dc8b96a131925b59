package io.github.holdfast.transaction;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.event.TransactionalEventListenerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What callbacks write after a commit goes to the connection of the transaction that has
 * ended, and is committed when that is cleaned up.
 */
class WritesAfterCommitTests {

	private static final int CALLS = Integer.getInteger("test.after-commit-calls", 100);

	private static final int ROUNDS = Integer.getInteger("test.after-commit-rounds", 1);

	/**
	 * At a distance, where the lock is handed over before the clean-up.
	 */
	@Tag("F51")
	@ParameterizedTest
	@CsvSource({ "MARIADB,0", "MARIADB,16", "POSTGRESQL,0", "POSTGRESQL,16" })
	void writesOfAListenerAreCommittedUnderTheLock(TestDatabase database, int maxTurns) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port())) {
			proxy.delay(Duration.ofMillis(1));
			run(access.onPort(proxy.port()), maxTurns, (context, stock, jdbc) -> {
				for (int round = 1; round <= ROUNDS; round++) {
					takeTwiceInParallel(stock);
					assertThat(stock.quantity()).as("round %s", round).isEqualTo(100 - round * 2 * CALLS);
				}
			});
		}
	}

	private static void takeTwiceInParallel(Stock stock) {
		ExecutorService executor = Executors.newFixedThreadPool(4);
		try {
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				calls.add(CompletableFuture.runAsync(stock::takeTwice, executor));
			}
			calls.forEach(CompletableFuture::join);
		}
		finally {
			executor.shutdownNow();
		}
	}

	/**
	 * A locked method that a callback of a transaction without a lock calls, itself or
	 * through a bean with a transaction.
	 */
	@Tag("F51")
	@ParameterizedTest
	@CsvSource({ "H2,false,true", "H2,true,false", "MARIADB,false,false", "MARIADB,true,true", "POSTGRESQL,false,true",
			"POSTGRESQL,true,false" })
	void lockedCallOfACallbackWorksApartFromTheTransaction(TestDatabase database, boolean nested,
			boolean afterCompletion) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			AtomicReference<CompletableFuture<?>> other = new AtomicReference<>();
			transaction(context).executeWithoutResult((status) -> {
				stock.audit();
				TransactionSynchronizationManager.registerSynchronization(after(afterCompletion, () -> {
					if (nested) {
						stock.takeThroughBean();
					}
					else {
						stock.takePlain();
					}
					CountDownLatch read = new CountDownLatch(1);
					other.set(CompletableFuture.runAsync(() -> stock.take(read::countDown)));
					await(read);
				}));
			});
			other.get().join();
			assertThat(stock.quantity()).isEqualTo(98);
		});
	}

	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void reentrantCallOfACallbackIsChecked(TestDatabase database) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			stock.take(() -> TransactionSynchronizationManager.registerSynchronization(after(false, stock::takePlain)));
			assertThat(stock.quantity()).isEqualTo(98);
		});
	}

	/**
	 * The holder is paused in a callback, and superseded.
	 */
	@Tag("F51")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void writesOfASupersededHolderAreRolledBack(TestDatabase database, boolean afterCompletion) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			Throwable failure = catchThrowable(() -> context.getBean(LockTemplate.class)
				.run("A", () -> transaction(context).executeWithoutResult((status) -> {
					stock.audit();
					TransactionSynchronizationManager.registerSynchronization(after(afterCompletion, () -> {
						int quantity = stock.quantity();
						supersede(jdbc);
						jdbc.update("UPDATE stock SET quantity = ?", quantity - 10);
					}));
				})));
			assertThat(failure).isInstanceOf(LockOverlapException.class)
				.hasMessageContaining("after the commit")
				.hasCauseInstanceOf(LockLostException.class);
			assertThat(stock.quantity()).as("that of the next holder").isEqualTo(99);
			assertThat(stock.audits()).as("its commit was before").isOne();
		});
	}

	/**
	 * Whoever is told of a rollback may try again.
	 */
	@Tag("F51")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void checkThatFailsAfterTheCommitDoesNotTellOfARollback(TestDatabase database, boolean afterCompletion) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy network = new FaultProxy(access.port()); HikariDataSource direct = access.dataSource(1)) {
			run(access.onPort(network.port()), 16, (context, stock, jdbc) -> {
				Throwable failure = catchThrowable(() -> context.getBean(LockTemplate.class)
					.run("A", () -> transaction(context).executeWithoutResult((status) -> {
						stock.audit();
						TransactionSynchronizationManager.registerSynchronization(after(afterCompletion, () -> {
							jdbc.update("UPDATE stock SET quantity = 0");
							network.reset();
						}));
					})));
				assertThat(failure).isInstanceOf(LockOverlapException.class)
					.hasMessageContaining("Lock 'A'")
					.hasMessageContaining("after the commit");
				JdbcTemplate other = new JdbcTemplate(direct);
				assertThat(Stock.quantity(other)).isEqualTo(100);
				assertThat(other.queryForObject("SELECT count(*) FROM audit", Integer.class)).isOne();
			});
		}
	}

	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void writesAfterARefusedCommitAreRolledBack(TestDatabase database) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			Throwable failure = catchThrowable(() -> context.getBean(LockTemplate.class)
				.run("A", () -> transaction(context).executeWithoutResult((status) -> {
					int quantity = stock.quantity();
					stock.audit();
					supersede(jdbc);
					TransactionSynchronizationManager.registerSynchronization(
							after(true, () -> jdbc.update("UPDATE stock SET quantity = ?", quantity - 10)));
				})));
			assertThat(failure).isInstanceOf(LockLostException.class);
			assertThat(stock.quantity()).isEqualTo(99);
			assertThat(stock.audits()).isZero();
		});
	}

	/**
	 * Spring sends no commit after that exception, but cleans up.
	 */
	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void writesAfterACommitThatFailedEarlyAreRolledBack(TestDatabase database) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			Throwable failure = catchThrowable(() -> context.getBean(LockTemplate.class)
				.run("A", () -> transaction(context).executeWithoutResult((status) -> {
					stock.audit();
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							throw new org.springframework.transaction.TransactionSystemException("early");
						}

						@Override
						public void afterCompletion(int status) {
							stock.audit();
						}

					});
				})));
			assertThat(failure).hasMessage("early");
			assertThat(stock.audits()).isZero();
		});
	}

	/**
	 * PostgreSQL ends the transaction of the callback then, and has nothing to commit.
	 */
	@Tag("F51")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void statementOfACallbackMayFail(TestDatabase database, boolean afterCompletion) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			AtomicReference<Throwable> failure = new AtomicReference<>();
			context.getBean(LockTemplate.class).run("A", () -> transaction(context).executeWithoutResult((status) -> {
				stock.audit();
				TransactionSynchronizationManager.registerSynchronization(after(afterCompletion,
						() -> failure.set(catchThrowable(() -> jdbc.update("INSERT INTO nowhere VALUES (1)")))));
			}));
			assertThat(failure.get()).isInstanceOf(DataAccessException.class);
			assertThat(stock.audits()).isOne();
		});
	}

	@Tag("F10")
	@Tag("F51")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void callbackMayTakeLongerThanTheTimeOutOfTheTransaction(TestDatabase database, boolean afterCompletion) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			TransactionTemplate transaction = transaction(context);
			transaction.setTimeout(2);
			context.getBean(LockTemplate.class).run("A", () -> transaction.executeWithoutResult((status) -> {
				Instant end = Instant.now().plusSeconds(2);
				TransactionSynchronizationManager.registerSynchronization(after(afterCompletion, () -> {
					stock.audit();
					Awaitility.await().until(() -> Instant.now().isAfter(end));
				}));
			}));
			assertThat(stock.audits()).isOne();
		});
	}

	/**
	 * Nobody is kept out by an optimistic lock once it has had its commit.
	 */
	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void callbackOfAnOptimisticCallMayUseTheConnection(TestDatabase database) {
		run(database.newDatabase(), 16, (context, stock, jdbc) -> {
			stock.takeOptimistically(() -> TransactionSynchronizationManager
				.registerSynchronization(after(false, () -> assertThat(stock.quantity()).isEqualTo(99))));
			stock.takeOptimistically(
					() -> TransactionSynchronizationManager.registerSynchronization(after(true, stock::audit)));
			assertThat(stock.quantity()).isEqualTo(98);
			assertThat(stock.audits()).isOne();
		});
	}

	/**
	 * As without a lock, nothing follows that would commit them.
	 */
	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void writesAreRolledBackIfThePoolHasNoAutoCommit(TestDatabase database) {
		LockedApplication.jdbc(database.newDatabase())
			.withUserConfiguration(Config.class)
			.withPropertyValues("spring.datasource.hikari.auto-commit=false")
			.run((context) -> {
				Stock stock = context.getBean(Stock.class);
				transaction(context)
					.executeWithoutResult((status) -> Stock.create(context.getBean(JdbcTemplate.class)));
				stock.takeTwice();
				assertThat(stock.quantity()).isEqualTo(99);
			});
	}

	private static void run(DatabaseAccess access, int maxTurns, Check check) {
		LockedApplication.jdbc(access)
			.withUserConfiguration(Config.class)
			.withPropertyValues("holdfast.handover.max-turns=" + maxTurns)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				Stock.create(jdbc);
				check.run(context, context.getBean(Stock.class), jdbc);
			});
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	/**
	 * Another node takes the lock and a piece.
	 */
	private static void supersede(JdbcTemplate jdbc) {
		CompletableFuture.runAsync(() -> {
			jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL");
			jdbc.update("UPDATE stock SET quantity = quantity - 1");
		}).join();
	}

	private static TransactionSynchronization after(boolean completion, Runnable action) {
		return new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				if (!completion) {
					action.run();
				}
			}

			@Override
			public void afterCompletion(int status) {
				if (completion) {
					action.run();
				}
			}

		};
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private interface Check {

		void run(ApplicationContext context, Stock stock, JdbcTemplate jdbc);

	}

	private record Taken() {
	}

	@Configuration(proxyBeanMethods = false)
	static class Config {

		@Bean
		Stock stock(JdbcTemplate jdbc, ApplicationEventPublisher events, Writer writer) {
			return new Stock(jdbc, events, writer);
		}

		@Bean
		Writer writer(JdbcTemplate jdbc) {
			return new Writer(jdbc);
		}

		@Bean
		static TransactionalEventListenerFactory transactionalEventListenerFactory() {
			return new TransactionalEventListenerFactory();
		}

	}

	static class Writer {

		private final JdbcTemplate jdbc;

		Writer(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		public void takeOne() {
			int quantity = Stock.quantity(this.jdbc);
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - 1);
		}

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		private final ApplicationEventPublisher events;

		private final Writer writer;

		Stock(JdbcTemplate jdbc, ApplicationEventPublisher events, Writer writer) {
			this.jdbc = jdbc;
			this.events = events;
			this.writer = writer;
		}

		static void create(JdbcTemplate jdbc) {
			jdbc.execute("CREATE TABLE stock (quantity integer)");
			jdbc.execute("CREATE TABLE audit (id integer)");
			jdbc.update("INSERT INTO stock VALUES (100)");
		}

		static int quantity(JdbcTemplate jdbc) {
			Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		int quantity() {
			return quantity(this.jdbc);
		}

		void audit() {
			this.jdbc.update("INSERT INTO audit VALUES (1)");
		}

		int audits() {
			Integer audits = this.jdbc.queryForObject("SELECT count(*) FROM audit", Integer.class);
			return (audits != null) ? audits : -1;
		}

		@DistributedLock(key = "'A'", waitTime = "60s")
		@Transactional
		public void takeTwice() {
			takeOne();
			this.events.publishEvent(new Taken());
		}

		@TransactionalEventListener
		public void taken(Taken event) {
			takeOne();
		}

		@DistributedLock(key = "'A'", waitTime = "60s")
		@Transactional
		public void take(Runnable whenRead) {
			takeOne(whenRead);
		}

		private void takeOne(Runnable whenRead) {
			int quantity = quantity();
			whenRead.run();
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - 1);
		}

		@DistributedLock(key = "'A'", mode = LockRequest.Mode.OPTIMISTIC)
		@Transactional
		public void takeOptimistically(Runnable whenRead) {
			takeOne(whenRead);
		}

		@DistributedLock(key = "'A'")
		public void takePlain() {
			takeOne();
		}

		@DistributedLock(key = "'A'")
		public void takeThroughBean() {
			this.writer.takeOne();
		}

		private void takeOne() {
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity() - 1);
		}

	}

}
