package io.github.holdfast.transaction;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockCallback;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/** Many threads share few connections and take locks in each other's way. */
class PoolExhaustionTests {

	private static final int THREADS = 50;

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void nestedLocksInBothOrdersEndByResultOrTimeout(TestBackend backend) {
		run(backend, "1s", (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			StockService stock = context.getBean(StockService.class);
			AtomicInteger taken = new AtomicInteger();
			List<Throwable> failures = onAllThreads((i) -> {
				locks.run((i % 2 == 0) ? "outer:A" : "outer:B",
						() -> locks.run((i % 2 == 0) ? "outer:B" : "outer:A", () -> stock.take("A", () -> {
						})));
				taken.incrementAndGet();
			});
			assertThat(failures)
				.allSatisfy((failure) -> assertThat(failure).isInstanceOfAny(LockNotAcquiredException.class,
						LockBackendException.class, CannotCreateTransactionException.class));
			assertThat(taken.get() + failures.size()).isEqualTo(THREADS);
			assertThat(stock.quantity("A")).isEqualTo(100 - taken.get());
		});
	}

	/** They are taken in one order, whatever the order they are named in. */
	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void severalKeysInBothOrdersAllSucceed(TestBackend backend) {
		run(backend, "120s", (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			StockService stock = context.getBean(StockService.class);
			Collection<Throwable> failures = onAllThreads(
					(i) -> locks.execute((i % 2 == 0) ? List.of("list:A", "list:B") : List.of("list:B", "list:A"),
							PoolExhaustionTests.body(() -> stock.take("A", () -> {
							}))));
			assertThat(failures).isEmpty();
			assertThat(stock.quantity("A")).isEqualTo(100 - THREADS);
		});
	}

	/** The outer transaction has the only connection, so that no other can begin. */
	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void callThatNeedsASecondConnectionEndsByTheTimeoutOfThePool(TestBackend backend) {
		run(backend, "1s", (context) -> {
			StockService stock = context.getBean(StockService.class);
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			List<Throwable> failures = onAllThreads((i) -> outer.executeWithoutResult((status) -> {
				stock.quantity("A");
				stock.takeInNewTransaction("A", () -> {
				});
			}));
			assertThat(failures).hasSize(THREADS)
				.allSatisfy((failure) -> assertThat(failure).isInstanceOfAny(LockNotAcquiredException.class,
						LockBackendException.class, CannotCreateTransactionException.class));
			assertThat(failures)
				.anySatisfy((failure) -> assertThat(failure).isInstanceOf(CannotCreateTransactionException.class)
					.hasStackTraceContaining("request timed out after"));
			assertThat(stock.quantity("A")).isEqualTo(100);
			stock.take("A", () -> {
			});
		});
	}

	private static LockCallback<@Nullable Void, RuntimeException> body(Runnable work) {
		return () -> {
			work.run();
			return null;
		};
	}

	private static void run(TestBackend backend, String waitTime,
			ContextConsumer<AssertableApplicationContext> scenario) {
		backend.application()
			.withBean(StockService.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1", "holdfast.wait-time=" + waitTime,
					"spring.datasource.hikari.connection-timeout=" + (waitTime.equals("1s") ? 500 : 60000))
			.run(scenario);
	}

	private static List<Throwable> onAllThreads(IntConsumer work) throws Exception {
		return Threads.together(THREADS, (i) -> failureOf(work, i)).stream().filter(Objects::nonNull).toList();
	}

	private static @Nullable Throwable failureOf(IntConsumer work, int number) {
		try {
			work.accept(number);
			return null;
		}
		catch (RuntimeException | Error ex) {
			return ex;
		}
	}

}
