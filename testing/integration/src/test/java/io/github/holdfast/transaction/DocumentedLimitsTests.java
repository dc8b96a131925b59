package io.github.holdfast.transaction;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What a lock does not protect from, as the documentation says: if one of these changes,
 * it has to change, too.
 */
class DocumentedLimitsTests {

	private static final Runnable NOTHING = () -> {
	};

	/**
	 * The default collations of MariaDB and MySQL ignore case and trailing blanks.
	 */
	@Test
	void keysThatAreOneRowForTheDatabaseAreSeveralLocks() {
		LockedApplication.jdbc(TestDatabase.MARIADB.newDatabase()).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE stock (sku varchar(10) PRIMARY KEY, quantity integer)");
			jdbc.update("INSERT INTO stock VALUES ('SKU-1', 100)");
			LockTemplate locks = context.getBean(LockTemplate.class);
			for (String other : List.of("sku-1", "SKU-1 ")) {
				assertThat(jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = ?", Integer.class, other))
					.isEqualTo(100);
				boolean both = locks.execute("SKU-1",
						() -> CompletableFuture.supplyAsync(() -> locks.execute(other, () -> true)).join());
				assertThat(both).as("'SKU-1' and '%s' are held at the same time", other).isTrue();
			}
		});
	}

	/**
	 * A task that a full pool gives back to its submitter runs inside of the submitter's
	 * lock and transaction.
	 */
	@Test
	void taskOfAnotherThatRunsOnTheThreadOfTheHolderIsInsideOfItsLock() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase()).withUserConfiguration(FullPool.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE stock (quantity integer)");
			jdbc.update("INSERT INTO stock VALUES (100)");
			CountDownLatch goOn = new CountDownLatch(1);
			context.getBean(ThreadPoolTaskExecutor.class).execute(() -> awaitUninterruptibly(goOn));
			try {
				context.getBean(Orders.class).confirm();
			}
			finally {
				goOn.countDown();
			}
			assertThat(jdbc.queryForObject("SELECT quantity FROM stock", Integer.class))
				.as("two pieces were taken, one of them between the read and the write of the other")
				.isEqualTo(99);
		});
	}

	/**
	 * Under a lock that others share, or that nobody holds, what is declared read-only is
	 * believed. The row of an exclusive lock is checked all the same.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,,OPTIMISTIC,true", "H2,,EXCLUSIVE,false",
			"MARIADB,readOnlyPropagatesToServer=false,OPTIMISTIC,true",
			"MARIADB,readOnlyPropagatesToServer=false,SHARED,true",
			"MARIADB,readOnlyPropagatesToServer=false,EXCLUSIVE,false", "MARIADB,,OPTIMISTIC,false",
			"MARIADB,,SHARED,false", "POSTGRESQL,readOnlyMode=ignore,OPTIMISTIC,true",
			"POSTGRESQL,readOnlyMode=ignore,SHARED,true", "POSTGRESQL,readOnlyMode=ignore,EXCLUSIVE,false",
			"POSTGRESQL,,OPTIMISTIC,false", "POSTGRESQL,,SHARED,false" })
	void transactionThatIsDeclaredReadOnlyAndWritesIsNotProtected(TestDatabase database, @Nullable String option,
			LockRequest.Mode mode, boolean lost) {
		DatabaseAccess access = database.newDatabase();
		String url = (option != null) ? access.url() + (access.url().contains("?") ? "&" : "?") + option : access.url();
		LockedApplication.jdbc(new DatabaseAccess(url, access.user(), access.password()))
			.withBean(LockedShop.class)
			.withPropertyValues("holdfast.wait-time=0")
			.run((context) -> {
				LockedShop.createTables(context.getBean(JdbcTemplate.class));
				LockedShop shop = context.getBean(LockedShop.class);
				LockTemplate locks = context.getBean(LockTemplate.class).withMode(mode);
				TransactionTemplate declared = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				declared.setReadOnly(true);
				AcknowledgedSales sales = new AcknowledgedSales();
				sales.sell(1,
						() -> locks.run("stock", () -> declared
							.executeWithoutResult((status) -> shop.sell(() -> sales.sellMeanwhile(1, () -> locks
								.run("stock", () -> declared.executeWithoutResult((other) -> shop.sell(NOTHING))))))));
				Throwable balance = catchThrowable(() -> sales.assertNoneIsLostIn(shop.quantity()));
				assertThat(balance != null).as("an update is lost").isEqualTo(lost);
			});
	}

	/**
	 * The lock of a method whose transaction was all that it did so far ends with the
	 * COMMIT.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void callbackThatHibernateRegistersAfterTheCheckHasNoLockTheFirstTime(String mode) {
		ApplicationContextRunner node = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withUserConfiguration(SharedConnectionTests.TwoManagers.class)
			.withPropertyValues("holdfast.wait-time=0", "holdfast.jdbc.mode=" + mode,
					"spring.jpa.hibernate.ddl-auto=update");
		node.run((first) -> node.run((second) -> {
			SharedConnectionTests.Orders orders = first.getBean(SharedConnectionTests.Orders.class);
			orders.fill();
			orders.take(0, NOTHING, NOTHING);
			orders.take(0, NOTHING, NOTHING);
			AtomicReference<Throwable> refusal = new AtomicReference<>();
			Runnable sale = () -> second.getBean(SharedConnectionTests.Orders.class).take(1, NOTHING, NOTHING);
			SharedConnectionTests.Hooks hooks = first.getBean(SharedConnectionTests.Hooks.class);
			Runnable another = () -> refusal.set(CompletableFuture.supplyAsync(() -> catchThrowable(sale::run)).join());
			for (boolean known : new boolean[] { false, true }) {
				hooks.beforeCommit(() -> SharedConnectionTests.afterCommit(another));
				orders.take(0, NOTHING, NOTHING);
				assertThat(refusal.get() != null).as("is refused while the callback runs").isEqualTo(known);
			}
		}));
	}

	/**
	 * Its session is not idle, but sends.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void holderThatDoesNotReadItsResultKeepsItsTransactionLock(TestDatabase database) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(access.port())) {
			LockedApplication.jdbc(access)
				.withBean(LockedShop.class)
				.withPropertyValues("holdfast.wait-time=10s")
				.run((other) -> LockedApplication.jdbc(access.onPort(proxy.port()))
					.withBean(LockedShop.class)
					.withPropertyValues("holdfast.lease-time=4s")
					.run((context) -> {
						JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
						LockedShop.createTables(jdbc);
						jdbc.batchUpdate("INSERT INTO audit VALUES (?)", Collections.nCopies(200, new Object[] { 1 }));
						LockedShop shop = context.getBean(LockedShop.class);
						shop.take(NOTHING);
						CompletableFuture<Throwable> refusal = new CompletableFuture<>();
						shop.take(() -> {
							proxy.inject(FaultProxy.Fault.HOLD_REPLIES);
							refusal
								.completeAsync(
										() -> catchThrowable(() -> other.getBean(LockedShop.class).take(NOTHING)))
								.thenRun(() -> proxy.inject(FaultProxy.Fault.NONE));
							jdbc.queryForList("SELECT repeat('x', 100000) FROM audit");
						});
						assertThat(refusal.join()).isInstanceOf(LockNotAcquiredException.class)
							.hasMessageContaining("a transaction that has not been committed");
						assertThat(shop.quantity()).isEqualTo(98);
					}));
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,transaction,true", "MARIADB,lease,false", "POSTGRESQL,transaction,true",
			"POSTGRESQL,lease,false" })
	void methodCannotSetTheIsolationLevelAfterItsTransactionLock(TestDatabase database, String mode, boolean fails) {
		LockedApplication.jdbc(database.newDatabase())
			.withBean(Reports.class)
			.withPropertyValues("holdfast.jdbc.mode=" + mode)
			.run((context) -> {
				Reports reports = context.getBean(Reports.class);
				reports.writeSerializably();
				assertThat(catchThrowable(reports::writeSerializably) != null).isEqualTo(fails);
			});
	}

	/**
	 * Its epoch was not committed, and the next one is not taken from the clock.
	 */
	@ParameterizedTest
	@EnumSource
	void tokenOfATransactionLockIsGivenAgainWhileTheClockIsBehind(TestDatabase database) {
		LockedApplication.jdbc(database.newDatabase()).withBean(LockedShop.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			LockedShop.createTables(jdbc);
			LockedShop shop = context.getBean(LockedShop.class);
			shop.take(NOTHING);
			assertThat(tokensOfTwoThatAreRolledBack(shop)).hasSize(2);
			jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 3600000000");
			assertThat(tokensOfTwoThatAreRolledBack(shop)).hasSize(1);
		});
	}

	private static Set<Long> tokensOfTwoThatAreRolledBack(LockedShop shop) {
		Set<Long> tokens = new HashSet<>();
		for (int i = 0; i < 2; i++) {
			assertThatIllegalStateException().isThrownBy(() -> shop.take(() -> {
				tokens.add(LockContext.current().orElseThrow().token());
				throw new IllegalStateException();
			}));
		}
		return tokens;
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class FullPool {

		@Bean
		ThreadPoolTaskExecutor taskExecutor() {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setCorePoolSize(1);
			executor.setMaxPoolSize(1);
			executor.setQueueCapacity(0);
			executor.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
			return executor;
		}

		@Bean
		Gifts gifts(JdbcTemplate jdbc) {
			return new Gifts(jdbc);
		}

		@Bean
		Orders orders(JdbcTemplate jdbc, @Lazy Gifts gifts) {
			return new Orders(jdbc, gifts);
		}

	}

	static class Orders {

		private final JdbcTemplate jdbc;

		private final Gifts gifts;

		Orders(JdbcTemplate jdbc, Gifts gifts) {
			this.jdbc = jdbc;
			this.gifts = gifts;
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void confirm() {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
			this.gifts.add();
			this.jdbc.update("UPDATE stock SET quantity = ?", quantity - 1);
		}

	}

	static class Gifts {

		private final JdbcTemplate jdbc;

		Gifts(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Async
		@DistributedLock(key = "'stock'")
		@Transactional
		public void add() {
			this.jdbc.update("UPDATE stock SET quantity = quantity - 1");
		}

	}

	static class Reports {

		private final JdbcTemplate jdbc;

		Reports(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "'report'")
		@Transactional
		public void writeSerializably() {
			this.jdbc.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
		}

	}

}
