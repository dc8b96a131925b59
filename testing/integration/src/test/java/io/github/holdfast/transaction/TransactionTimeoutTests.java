package io.github.holdfast.transaction;

import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A transaction makes no statement after its time-out, so that Spring would let it
 * commit, and the check at {@code lease} makes none either.
 */
class TransactionTimeoutTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void timedOutTransactionCannotCommitAtLease(TestBackend backend) {
		ApplicationContextRunner application = backend.application()
			.withPropertyValues("holdfast.commit-guard=lease")
			.withBean(StockService.class);
		application.run((context) -> {
			StockService stock = context.getBean(StockService.class);
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.setTimeout(1);
			assertThatExceptionOfType(TransactionTimedOutException.class)
				.isThrownBy(() -> locks.run("stock:A", () -> transaction.executeWithoutResult((status) -> {
					long start = System.nanoTime();
					stock.writeWithoutTimeout("A", 1);
					Awaitility.await().until(() -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(1200));
					stock.write("A", 2);
				})));
			assertThat(stock.quantity("A")).isEqualTo(100);
			stock.take("A", () -> {
			});
			assertThat(stock.quantity("A")).as("the lock is free").isEqualTo(99);
		});
	}

}
