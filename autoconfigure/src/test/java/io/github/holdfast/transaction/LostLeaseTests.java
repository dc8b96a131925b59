package io.github.holdfast.transaction;

import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Ends a lease in the store behind the back of its holder, and lets another holder work
 * before the first one commits.
 */
class LostLeaseTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderCannotCommitAtFence(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.take("A", () -> workOfAnother(context)))
				.withMessageContaining("'stock:A'");
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderCannotCommitAtVerify(TestDatabase database) {
		run(database, "verify", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.take("A", () -> workOfAnother(context)));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderLosesAnUpdateAtLease(TestDatabase database) {
		run(database, "lease", (context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.take("A", () -> workOfAnother(context));
			assertThat(stock.quantity("A")).as("two were taken, one update is lost").isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void expiredButNotSupersededHolderCommitsAtFence(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.take("A", () -> expire(context));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void deletedLockRowRejectsTheCommit(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A",
					() -> otherConnection(context, (jdbc) -> jdbc.update("DELETE FROM holdfast_lock"))));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lostLockRollsBackWhateverTheRollbackRulesSay(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.takeAndNeverRollBack("A", () -> workOfAnother(context)));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void readOnlyTransactionIsCheckedWithoutRowLock(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThat(stock.read("A", () -> {
			})).isEqualTo(100);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.read("A", () -> workOfAnother(context)));
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void timedOutTransactionCannotCommit(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.setTimeout(1);
			long start = System.nanoTime();
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> context.getBean(LockTemplate.class)
				.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
					stock.write("A", 1);
					Awaitility.await().until(() -> System.nanoTime() - start > 1_500_000_000L);
				}))).withCauseInstanceOf(TransactionTimedOutException.class);
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void transactionTemplateIsGuarded(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			LockTemplate locks = context.getBean(LockTemplate.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> locks.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
					int quantity = stock.quantity("A");
					workOfAnother(context);
					stock.write("A", quantity - 1);
				})));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void innerNewTransactionIsGuarded(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> outer
				.executeWithoutResult((status) -> stock.takeInNewTransaction("A", () -> workOfAnother(context))));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void bodyWithoutTransactionIsToldThatWorkMayHaveOverlapped(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockOverlapException.class)
				.isThrownBy(() -> stock.withoutTransaction("A", () -> workOfAnother(context)));
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void readOnlyTransactionDoesNotHideThatOtherWorkMayHaveOverlapped(TestDatabase database) {
		run(database, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate readOnly = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			readOnly.setReadOnly(true);
			assertThatExceptionOfType(LockOverlapException.class).isThrownBy(() -> stock.withoutTransaction("A", () -> {
				readOnly.executeWithoutResult((status) -> stock.quantity("A"));
				workOfAnother(context);
			}));
		});
	}

	private static void run(TestDatabase database, String level, Consumer<ApplicationContext> test) {
		LockedApplication.jdbc(database.newDatabase())
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=" + level)
			.run((context) -> test.accept(context));
	}

	/**
	 * The lease runs out in the store, another node gets the lock, takes one and commits.
	 */
	private static void workOfAnother(ApplicationContext context) {
		expire(context);
		StockService stock = context.getBean(StockService.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		try (LockTemplate otherNode = new LockTemplate(
				() -> new JdbcLockBackend(() -> context.getBean(DataSource.class)), List::of)) {
			onOtherThread(() -> otherNode.run("stock:A",
					() -> transaction.executeWithoutResult((status) -> stock.write("A", stock.quantity("A") - 1))));
		}
	}

	private static void expire(ApplicationContext context) {
		otherConnection(context, (jdbc) -> jdbc.update("UPDATE holdfast_lock SET expires_at = acquired_at"));
	}

	private static void otherConnection(ApplicationContext context, Consumer<JdbcTemplate> work) {
		onOtherThread(() -> work.accept(context.getBean(JdbcTemplate.class)));
	}

	private static void onOtherThread(Runnable work) {
		Throwable[] failure = new Throwable[1];
		Thread thread = new Thread(work);
		thread.setUncaughtExceptionHandler((t, ex) -> failure[0] = ex);
		thread.start();
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		assertThat(failure[0]).isNull();
	}

}
