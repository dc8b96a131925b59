package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Ends a lease in the store behind the back of its holder, and lets another holder work
 * before the first one commits.
 */
class LostLeaseTests {

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void supersededHolderCannotCommitAtFence(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.take("A", () -> workOfAnother(context, place)))
				.withMessageContaining("'stock:A'");
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void whatAnotherTransactionOfTheCallHasCommittedBeforeStays(TestDatabase database) {
		run(database, LockPlace.BUSINESS_DATABASE, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).run("stock:A", () -> {
					transaction.executeWithoutResult((status) -> stock.write("A", 50));
					workOfAnother(context, LockPlace.BUSINESS_DATABASE);
					transaction.executeWithoutResult((status) -> stock.write("A", 0));
				}))
				.withMessageContaining("so only this transaction is rolled back");
			assertThat(stock.quantity("A")).isEqualTo(49);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderCannotCommitAtVerify(TestDatabase database) {
		run(database, LockPlace.BUSINESS_DATABASE, "verify", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.take("A", () -> workOfAnother(context, LockPlace.BUSINESS_DATABASE)));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderLosesAnUpdateAtLease(TestDatabase database) {
		run(database, LockPlace.BUSINESS_DATABASE, "lease", (context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.take("A", () -> workOfAnother(context, LockPlace.BUSINESS_DATABASE));
			assertThat(stock.quantity("A")).as("two were taken, one update is lost").isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void expiredButNotSupersededHolderCommitsAtFence(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			stock.take("A", () -> expire(context, place));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	@Tag("F33")
	void deletedRowRejectsTheCommit(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A",
					() -> otherConnection(context, (jdbc) -> jdbc.update("DELETE FROM " + place.fenceTable()))));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void lostLockRollsBackWhateverTheRollbackRulesSay(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.takeAndNeverRollBack("A", () -> workOfAnother(context, place)));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void readOnlyTransactionIsChecked(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThat(stock.read("A", () -> {
			})).isEqualTo(100);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> stock.read("A", () -> workOfAnother(context, place)));
		});
	}

	/**
	 * It could write, as the driver may not tell the database. PostgreSQL refuses to lock
	 * rows where it knows.
	 */
	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void readOnlyTransactionKeepsLaterHoldersOutWhereTheDatabaseLetsIt(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			List<Throwable> locked = new ArrayList<>();
			ConfigurableTransactionManager manager = context.getBean(ConfigurableTransactionManager.class);
			TransactionExecutionListener behindTheGuard = new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					if (transaction.isReadOnly()) {
						otherConnection(context, (jdbc) -> locked.add(catchThrowable(() -> jdbc
							.queryForList("SELECT epoch FROM " + place.fenceTable() + " FOR UPDATE NOWAIT"))));
					}
				}

			};
			context.getBean(StockService.class).read("A", () -> manager.addListener(behindTheGuard));
			assertThat(locked).hasSize(1);
			assertThat(locked.get(0) != null).isEqualTo(database != TestDatabase.POSTGRESQL);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	@Tag("F10")
	void timedOutTransactionCannotCommit(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.setTimeout(1);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> context.getBean(LockTemplate.class)
				.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
					long start = System.nanoTime();
					stock.writeWithoutTimeout("A", 1);
					Awaitility.await().until(() -> System.nanoTime() - start > 1_500_000_000L);
				}))).withCauseInstanceOf(TransactionTimedOutException.class);
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void transactionTemplateIsGuarded(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			LockTemplate locks = context.getBean(LockTemplate.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> locks.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
					int quantity = stock.quantity("A");
					workOfAnother(context, place);
					stock.write("A", quantity - 1);
				})));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void innerNewTransactionIsGuarded(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> outer.executeWithoutResult(
					(status) -> stock.takeInNewTransaction("A", () -> workOfAnother(context, place))));
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void bodyWithoutTransactionIsToldThatWorkMayHaveOverlapped(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostAfterWorkException.class)
				.isThrownBy(() -> stock.withoutTransaction("A", () -> workOfAnother(context, place)));
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void readOnlyTransactionDoesNotHideThatOtherWorkMayHaveOverlapped(TestDatabase database, LockPlace place) {
		run(database, place, "fence", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate readOnly = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			readOnly.setReadOnly(true);
			assertThatExceptionOfType(LockLostAfterWorkException.class)
				.isThrownBy(() -> stock.withoutTransaction("A", () -> {
					readOnly.executeWithoutResult((status) -> stock.quantity("A"));
					workOfAnother(context, place);
				}));
		});
	}

	private static void run(TestDatabase database, LockPlace place, String level, Consumer<ApplicationContext> test) {
		place.application(database)
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=" + level)
			.run((context) -> test.accept(context));
	}

	/**
	 * The lease runs out in the store, another node gets the lock, takes one and commits.
	 */
	private static void workOfAnother(ApplicationContext context, LockPlace place) {
		expire(context, place);
		StockService stock = context.getBean(StockService.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		LockTemplate otherNode = new LockTemplate(() -> place.newNode(context), List::of);
		try {
			onOtherThread(() -> otherNode.run("stock:A",
					() -> transaction.executeWithoutResult((status) -> stock.write("A", stock.quantity("A") - 1))));
		}
		finally {
			TemplateAccess.close(otherNode);
		}
	}

	private static void expire(ApplicationContext context, LockPlace place) {
		onOtherThread(() -> new JdbcTemplate(place.locks(context))
			.update("UPDATE holdfast_lock SET expires_at = acquired_at"));
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
