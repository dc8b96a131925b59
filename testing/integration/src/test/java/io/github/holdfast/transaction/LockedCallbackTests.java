package io.github.holdfast.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.event.TransactionalEventListenerFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locked calls of the last callbacks of a transaction, when an earlier callback has had a
 * transaction of its own: Spring then calls no transaction active any more, although the
 * connection of the one that has ended is still bound.
 */
@Tag("F62")
class LockedCallbackTests {

	@ParameterizedTest
	@CsvSource({ "H2, NOTHING", "H2, TRANSACTION", "H2, LOCK", "MARIADB, NOTHING", "MARIADB, TRANSACTION",
			"MARIADB, LOCK", "POSTGRESQL, TRANSACTION", "POSTGRESQL, LOCK" })
	void nextHolderReadsWhatALockedCallOfTheLastCallbackHasWritten(TestDatabase database, Before before)
			throws Exception {
		run(database, (context) -> {
			Listeners listeners = context.getBean(Listeners.class);
			context.getBean(Orders.class).place(new Placed(before, Calls.ONE));
			listeners.next.get(20, TimeUnit.SECONDS);
			assertThat(listeners.failure).isNull();
			assertThat(context.getBean(Stock.class).quantity()).isEqualTo(98);
			assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections()).isZero();
		});
	}

	/**
	 * The first of them must not bring the connection of the transaction that has ended
	 * back for good, nor let the later ones work on it.
	 */
	@ParameterizedTest
	@CsvSource({ "H2, TWO, 98", "H2, LOOP, 96", "H2, TEMPLATE, 98", "MARIADB, TWO, 98", "MARIADB, LOOP, 96",
			"MARIADB, TEMPLATE, 98", "POSTGRESQL, TWO, 98", "POSTGRESQL, LOOP, 96", "POSTGRESQL, TEMPLATE, 98" })
	void nextHolderReadsWhatSeveralLockedCallsOfOneCallbackHaveWritten(TestDatabase database, Calls calls, int left)
			throws Exception {
		run(database, (context) -> {
			Listeners listeners = context.getBean(Listeners.class);
			context.getBean(Orders.class).place(new Placed(Before.NOTHING, calls));
			listeners.next.get(20, TimeUnit.SECONDS);
			assertThat(listeners.failure).isNull();
			assertThat(context.getBean(Stock.class).quantity()).isEqualTo(left);
			assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections()).isZero();
		});
	}

	/**
	 * As in the first callback: it would write to the transaction that has ended.
	 */
	@ParameterizedTest
	@EnumSource(Before.class)
	void callThatWouldJoinTheTransactionThatHasEndedIsRefused(Before before) throws Exception {
		run(TestDatabase.MARIADB, (context) -> {
			Listeners listeners = context.getBean(Listeners.class);
			context.getBean(Orders.class).place(new Placed(before, Calls.JOINING));
			listeners.next.get(20, TimeUnit.SECONDS);
			assertThat(listeners.failure).isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("is called after the commit")
				.hasMessageContaining("REQUIRES_NEW");
			assertThat(context.getBean(Stock.class).quantity()).isEqualTo(99);
		});
	}

	@Test
	void lockedCallDoesNotChangeWhatSpringSaysOfTheTransaction() throws Exception {
		run(TestDatabase.H2, (context) -> {
			Listeners listeners = context.getBean(Listeners.class);
			context.getBean(Orders.class).place(new Placed(Before.LOCK, Calls.ONE));
			listeners.next.get(20, TimeUnit.SECONDS);
			assertThat(listeners.told)
				.isEqualTo("true " + Orders.class.getName() + ".place true " + Isolation.READ_COMMITTED.value());
		});
	}

	private static void run(TestDatabase database, ThrowingConsumer test) {
		LockedApplication.jdbc(database.newDatabase()).withUserConfiguration(Config.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE stock (quantity integer)");
			jdbc.execute("CREATE TABLE audit (note varchar(10))");
			jdbc.update("INSERT INTO stock VALUES (100)");
			test.accept(context);
		});
	}

	/**
	 * What the first callback does.
	 */
	enum Before {

		NOTHING, TRANSACTION, LOCK

	}

	/**
	 * The locked calls of the second callback.
	 */
	enum Calls {

		ONE, JOINING, TWO, LOOP, TEMPLATE

	}

	@FunctionalInterface
	private interface ThrowingConsumer {

		void accept(ApplicationContext context) throws Exception;

	}

	private record Placed(Before before, Calls calls) {
	}

	@Configuration(proxyBeanMethods = false)
	static class Config {

		@Bean
		Orders orders(ApplicationEventPublisher events, JdbcTemplate jdbc) {
			return new Orders(events, jdbc);
		}

		@Bean
		Audit audit(JdbcTemplate jdbc) {
			return new Audit(jdbc);
		}

		@Bean
		Stock stock(JdbcTemplate jdbc) {
			return new Stock(jdbc);
		}

		@Bean
		Listeners listeners(Audit audit, Stock stock, LockTemplate locks) {
			return new Listeners(audit, stock, locks);
		}

		@Bean
		static TransactionalEventListenerFactory transactionalEventListenerFactory() {
			return new TransactionalEventListenerFactory();
		}

	}

	static class Orders {

		private final ApplicationEventPublisher events;

		private final JdbcTemplate jdbc;

		Orders(ApplicationEventPublisher events, JdbcTemplate jdbc) {
			this.events = events;
			this.jdbc = jdbc;
		}

		@Transactional(isolation = Isolation.READ_COMMITTED)
		public void place(Placed placed) {
			this.jdbc.update("INSERT INTO audit VALUES ('order')");
			this.events.publishEvent(placed);
		}

	}

	static class Audit {

		private final JdbcTemplate jdbc;

		Audit(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void note() {
			this.jdbc.update("INSERT INTO audit VALUES ('note')");
		}

		void noteUnlocked() {
			this.jdbc.update("INSERT INTO audit VALUES ('note')");
		}

		@DistributedLock(key = "'audit'")
		public void noteLocked() {
			this.jdbc.update("INSERT INTO audit VALUES ('note')");
		}

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		Stock(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		int quantity() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		private void takeOne(int quantity) {
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - 1);
		}

		void takeUnlocked() {
			takeOne(quantity());
		}

		@DistributedLock(key = "'stock'")
		public void takePlain() {
			takeOne(quantity());
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void takeJoining() {
			takeOne(quantity());
		}

		@DistributedLock(key = "'stock'", waitTime = "20s")
		@Transactional
		public void takeNext(Runnable whenRead) {
			int quantity = quantity();
			whenRead.run();
			takeOne(quantity);
		}

	}

	static class Listeners {

		private final Audit audit;

		private final Stock stock;

		private final LockTemplate locks;

		private CompletableFuture<Void> next = new CompletableFuture<>();

		private Exception failure;

		private String told;

		Listeners(Audit audit, Stock stock, LockTemplate locks) {
			this.audit = audit;
			this.stock = stock;
			this.locks = locks;
		}

		@TransactionalEventListener
		@Order(1)
		public void first(Placed placed) {
			switch (placed.before()) {
				case NOTHING -> {
				}
				case TRANSACTION -> this.audit.note();
				case LOCK -> this.audit.noteLocked();
			}
		}

		/**
		 * The next holder reads before the first transaction's connection is cleaned up.
		 */
		@TransactionalEventListener
		@Order(2)
		public void second(Placed placed) throws InterruptedException {
			this.told = TransactionSynchronizationManager.isActualTransactionActive() + " "
					+ TransactionSynchronizationManager.getCurrentTransactionName() + " "
					+ !TransactionSynchronizationManager.isCurrentTransactionReadOnly() + " "
					+ TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
			try {
				call(placed.calls());
			}
			catch (IllegalStateException ex) {
				this.failure = ex;
			}
			CountDownLatch read = new CountDownLatch(1);
			this.next = CompletableFuture.runAsync(() -> this.stock.takeNext(read::countDown));
			assertThat(read.await(20, TimeUnit.SECONDS)).isTrue();
		}

		private void call(Calls calls) {
			switch (calls) {
				case ONE -> this.stock.takePlain();
				case JOINING -> this.stock.takeJoining();
				case TWO -> {
					this.audit.noteLocked();
					this.stock.takePlain();
				}
				case LOOP -> {
					for (int i = 0; i < 3; i++) {
						this.stock.takePlain();
					}
				}
				case TEMPLATE -> {
					this.locks.run("audit", this.audit::noteUnlocked);
					this.locks.run("stock", this.stock::takeUnlocked);
				}
			}
		}

	}

}
