package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The database ends a deadlock by rolling back the transaction under a lock.
 */
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

}
