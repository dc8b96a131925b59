package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

import org.assertj.core.api.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Two nodes that sell from a stock of 100 pieces, with leases longer than any test. */
record TwoNodes(ApplicationContext first, ApplicationContext second) {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	static void run(ApplicationContextRunner node, CommitGuardLevel level, ThrowingConsumer<TwoNodes> scenario) {
		run(node, node, level, scenario);
	}

	static void run(ApplicationContextRunner first, ApplicationContextRunner second, CommitGuardLevel level,
			ThrowingConsumer<TwoNodes> scenario) {
		configured(first, level)
			.run((one) -> configured(second, level).run((two) -> scenario.accept(new TwoNodes(one, two))));
	}

	private static ApplicationContextRunner configured(ApplicationContextRunner node, CommitGuardLevel level) {
		return node.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.jdbc.initialize-schema=always",
					"holdfast.lease-time=10m", "holdfast.wait-time=" + PATIENCE.toSeconds() + "s");
	}

	/** By another method, whose transactions do not claim the row of the others. */
	long sell() {
		AtomicLong token = new AtomicLong();
		stock(this.first).takeInNewTransaction("A", () -> token.set(token()));
		return token.get();
	}

	/**
	 * Each node sells one piece. When the first one has read the quantity in its
	 * transaction, its lock is lost; it goes on when the second one has the lock and has
	 * read the quantity, too, which ends later.
	 */
	Sales sellAtTheSameTime(Runnable loss) {
		return sellAtTheSameTime(loss, (node, whileHeld) -> stock(node).take("A", whileHeld));
	}

	/** The same, with sales that read the quantity before their transactions begin. */
	Sales sellWhatWasReadBefore(Runnable loss) {
		return sellAtTheSameTime(loss, (node, whileHeld) -> stock(node).withoutTransaction("A", () -> {
			int quantity = stock(node).quantity("A");
			whileHeld.run();
			node.getBean(TransactionTemplate.class)
				.executeWithoutResult((status) -> stock(node).write("A", quantity - 1));
		}));
	}

	/** The second node has the lock, but waits for the transaction of the first one. */
	void sellOneAfterTheOther(Runnable loss) {
		CompletableFuture<Void> successor = new CompletableFuture<>();
		stock(this.first).take("A", () -> {
			loss.run();
			awaitStore(this.second);
			start(successor, () -> stock(this.second).take("A", () -> {
			}));
			awaitHolder();
			assertThat(successor).isNotDone();
		});
		successor.join();
	}

	private void awaitHolder() {
		await().atMost(PATIENCE).until(() -> this.second.getBean(LockBackend.class).holder("holdfast:stock:A") != null);
	}

	private Sales sellAtTheSameTime(Runnable loss, BiConsumer<ApplicationContext, Runnable> sale) {
		AtomicLong firstToken = new AtomicLong();
		AtomicLong secondToken = new AtomicLong();
		CountDownLatch firstHasEnded = new CountDownLatch(1);
		CompletableFuture<Void> successor = new CompletableFuture<>();
		LockLostException refusal = null;
		try {
			sale.accept(this.first, () -> {
				firstToken.set(token());
				loss.run();
				awaitStore(this.second);
				start(successor, () -> sale.accept(this.second, () -> {
					secondToken.set(token());
					await().forever().until(() -> firstHasEnded.getCount() == 0);
				}));
				await().atMost(PATIENCE).until(() -> secondToken.get() > 0 || successor.isDone());
			});
		}
		catch (LockLostException ex) {
			refusal = ex;
		}
		try {
			assertThat(successor).isNotDone();
			// The first node may still be cut off
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
					.as("the lock of the second node")
					.isThrownBy(() -> this.first.getBean(LockTemplate.class)
						.withWaitTime(Duration.ZERO)
						.run("stock:A", () -> {
						})));
		}
		finally {
			firstHasEnded.countDown();
		}
		successor.join();
		return new Sales(refusal, firstToken.get(), secondToken.get());
	}

	int quantity() {
		return stock(this.first).quantity("A");
	}

	private static StockService stock(ApplicationContext node) {
		return node.getBean(StockService.class);
	}

	private static long token() {
		return LockContext.current().orElseThrow().fencingToken();
	}

	/** Its clients may still have to connect again. */
	private static void awaitStore(ApplicationContext node) {
		LockTemplate locks = node.getBean(LockTemplate.class);
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockBackendException.class).until(() -> {
			locks.run("another key", () -> {
			});
			return true;
		});
	}

	private static void start(CompletableFuture<Void> outcome, Runnable work) {
		outcome.completeAsync(() -> {
			work.run();
			return null;
		}, (task) -> new Thread(task).start());
	}

	/** How two sales have ended, of which the second one is always committed. */
	record Sales(@Nullable LockLostException refusal, long firstToken, long secondToken) {
	}

}
