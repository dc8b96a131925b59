package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A locked method does not return. (A transaction that it has open keeps the lock until
 * the database ends it.)
 */
@ExtendWith(OutputCaptureExtension.class)
class MaxHoldTimeTests {

	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void othersGetTheLockWhenTheMethodDoesNotReturn(TestDatabase database, CapturedOutput output) {
		TestBackend.valueOf(database.name()).application().withBean(StockService.class).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			LockTemplate locks = context.getBean(LockTemplate.class)
				.withLeaseTime(Duration.ofSeconds(9))
				.withMaxHoldTime(Duration.ofSeconds(4));
			CountDownLatch hangs = new CountDownLatch(1);
			CountDownLatch goesOn = new CountDownLatch(1);
			CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> locks.run("stuck", () -> {
				hangs.countDown();
				await(goesOn);
				transaction.executeWithoutResult((status) -> stock.write("A", 1));
			}), (task) -> new Thread(task).start());
			await(hangs);
			LockManager otherNodeManager = new LockManager(
					new JdbcLockBackend(() -> context.getBean(DataSource.class)));
			LockTemplate otherNode = new LockTemplate(otherNodeManager);
			try {
				otherNode.withWaitTime(Duration.ofSeconds(60)).run("stuck", () -> assertThat(stuck).isNotDone());
			}
			finally {
				otherNodeManager.close();
			}
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(output).contains("The renewal of lock"));
			goesOn.countDown();
			assertThat(stuck).failsWithin(Duration.ofSeconds(60))
				.withThrowableThat()
				.withCauseInstanceOf(LockLostException.class);
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	@Test
	void localLockWithoutALeaseStaysHeld() {
		String key = "stuck:" + UUID.randomUUID();
		Duration maxHoldTime = Duration.ofMillis(50);
		LockManager locksManager = new LockManager(new LocalLockBackend());
		LockTemplate locks = new LockTemplate(locksManager).withWaitTime(Duration.ZERO);
		try {
			locks.withLeaseTime(Duration.ofMillis(30)).withMaxHoldTime(maxHoldTime).run(key, () -> {
				long start = System.nanoTime();
				Awaitility.await().until(() -> System.nanoTime() - start > 4 * maxHoldTime.toNanos());
				CompletableFuture<Void> other = CompletableFuture.runAsync(() -> locks.acquire(key).close());
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> other.get(60, TimeUnit.SECONDS))
					.withCauseInstanceOf(LockNotAcquiredException.class);
			});
		}
		finally {
			locksManager.close();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
