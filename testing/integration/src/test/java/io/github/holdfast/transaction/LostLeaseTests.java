package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A lease ends behind the back of its holder, and another one works meanwhile. */
class LostLeaseTests {

	private static final Runnable NOTHING = () -> {
	};

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void supersededHolderCannotCommitAtFenceWhateverItsTransactionIs(TestDatabase database, LockPlace place) {
		run(database, place, (context) -> {
			StockService stock = context.getBean(StockService.class);
			Runnable loss = () -> beforeNextBegin(context, () -> workOfAnother(context, place));
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			int left = 100;
			for (Runnable call : List.<Runnable>of(() -> {
				loss.run();
				stock.take("A", NOTHING);
			}, () -> {
				loss.run();
				stock.takeAndNeverRollBack("A", NOTHING);
			}, () -> outer.executeWithoutResult((status) -> {
				loss.run();
				stock.takeInNewTransaction("A", NOTHING);
			}))) {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(call::run)
					.withMessageContaining("'stock:A'");
				assertThat(stock.quantity("A")).isEqualTo(--left);
			}
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void whatAnotherTransactionOfTheCallHasCommittedBeforeStays(TestDatabase database) {
		run(database, LockPlace.BUSINESS_DATABASE, (context) -> {
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
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void expiredButNotSupersededHolderCommitsAtFence(TestDatabase database, LockPlace place) {
		run(database, place, (context) -> {
			StockService stock = context.getBean(StockService.class);
			beforeNextBegin(context, () -> expire(context, place));
			stock.take("A", NOTHING);
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void deletedRowRejectsTheCommit(TestDatabase database, LockPlace place) {
		run(database, place, (context) -> {
			StockService stock = context.getBean(StockService.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).run("stock:A", () -> {
					otherConnection(context, (jdbc) -> jdbc.update("DELETE FROM holdfast_lock"));
					new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
						.executeWithoutResult((status) -> stock.write("A", 0));
				}));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.holdfast.transaction.LockPlace#onEachDatabase")
	void callThatHasCommittedNothingIsToldThatOtherWorkMayHaveOverlapped(TestDatabase database, LockPlace place) {
		run(database, place, (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate readOnly = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			readOnly.setReadOnly(true);
			Runnable loss = () -> workOfAnother(context, place);
			assertThatExceptionOfType(LockLostAfterWorkException.class).isThrownBy(() -> stock.read("A", loss));
			assertThatExceptionOfType(LockLostAfterWorkException.class)
				.isThrownBy(() -> stock.withoutTransaction("A", loss));
			assertThatExceptionOfType(LockLostAfterWorkException.class)
				.isThrownBy(() -> stock.withoutTransaction("A", () -> {
					readOnly.executeWithoutResult((status) -> stock.quantity("A"));
					loss.run();
				}));
		});
	}

	private static void run(TestDatabase database, LockPlace place, Consumer<ApplicationContext> test) {
		place.application(database)
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=fence")
			.run((context) -> test.accept(context));
	}

	/**
	 * The lease runs out in the store, another node gets the lock, takes one and commits.
	 */
	private static void workOfAnother(ApplicationContext context, LockPlace place) {
		expire(context, place);
		onOtherThread(() -> takeOnAnotherNode(context, place));
	}

	private static void takeOnAnotherNode(ApplicationContext context, LockPlace place) {
		StockService stock = context.getBean(StockService.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		try (GuardedNode node = place.newNode(context)) {
			node.locks()
				.withWaitTime(Duration.ofSeconds(60))
				.run("stock:A",
						() -> transaction.executeWithoutResult((status) -> stock.write("A", stock.quantity("A") - 1)));
		}
	}

	private static void beforeNextBegin(ApplicationContext context, Runnable action) {
		AtomicReference<Runnable> next = new AtomicReference<>(action);
		context.getBean(ConfigurableTransactionManager.class).addListener(new TransactionExecutionListener() {

			@Override
			public void beforeBegin(TransactionExecution transaction) {
				next.getAndSet(() -> {
				}).run();
			}

		});
	}

	private static void expire(ApplicationContext context, LockPlace place) {
		onOtherThread(() -> new JdbcTemplate(place.locks(context)).update("UPDATE holdfast_lock SET expires_at = 1"));
	}

	private static void otherConnection(ApplicationContext context, Consumer<JdbcTemplate> work) {
		onOtherThread(() -> work.accept(context.getBean(JdbcTemplate.class)));
	}

	private static void onOtherThread(Runnable work) {
		CompletableFuture.runAsync(work, (task) -> new Thread(task).start()).join();
	}

}
