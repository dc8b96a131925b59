package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockListener;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Callbacks after the commit of a transaction lock, which has ended with it, although the
 * locked call has not.
 */
@Timeout(120)
class EndedTransactionLockTests {

	/**
	 * Nobody else has had the lock, as its row says.
	 */
	@ParameterizedTest
	@EnumSource
	void readOnlyTransactionOfACallbackIsNotRefused(TestDatabase database) {
		run(database, (node, other) -> {
			node.learn();
			AtomicReference<Integer> seen = new AtomicReference<>();
			node.takeAndThen(() -> seen.set(node.shop.lookApart()));
			assertThat(seen).hasValue(97);
			assertThat(node.told.lost).isEmpty();
		});
	}

	/**
	 * A locked method without a transaction would run without its lock, and nothing would
	 * check what it writes.
	 */
	@ParameterizedTest
	@EnumSource
	void callWithoutATransactionInACallbackIsRefusedOnce(TestDatabase database) {
		run(database, (node, other) -> {
			node.learn();
			other.learn();
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> node.takeAndThen(() -> node.shop.takeApart(() -> {
				})))
				.withMessageContaining("has just been committed, and ended with it");
			assertThat(node.shop.quantity()).isEqualTo(95);
			AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
			node.takeAndThen(() -> node.shop.takeApart(() -> sale.set(other.tryToTake())));
			sale.get().join();
			assertThat(node.shop.quantity()).as("three sales more").isEqualTo(92);
		});
	}

	private static void run(TestDatabase database, Scenario scenario) {
		ApplicationContextRunner application = LockedApplication.jdbc(database.newDatabase())
			.withUserConfiguration(Transactions.class)
			.withBean(Shop.class)
			.withBean(Told.class)
			.withPropertyValues("holdfast.wait-time=30s");
		application.run((first) -> {
			LockedShop.createTables(first.getBean(JdbcTemplate.class));
			application.run((second) -> scenario.run(new Node(first), new Node(second)));
		});
	}

	private interface Scenario {

		void run(Node node, Node other);

	}

	private static final class Node {

		private final Shop shop;

		private final Told told;

		Node(ApplicationContext context) {
			this.shop = context.getBean(Shop.class);
			this.told = context.getBean(Told.class);
		}

		/**
		 * The first call takes a lease, the second one locks the row.
		 */
		void learn() {
			for (int i = 0; i < 2; i++) {
				this.shop.take(() -> {
				});
			}
		}

		void takeAndThen(Runnable afterwards) {
			this.shop
				.take(() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						afterwards.run();
					}

				}));
		}

		/**
		 * Take a piece, if the lock is free within a second, or else when it is.
		 */
		CompletableFuture<Void> tryToTake() {
			CompletableFuture<Void> sale = CompletableFuture.runAsync(() -> this.shop.take(() -> {
			}), (task) -> new Thread(task).start());
			try {
				sale.get(1, TimeUnit.SECONDS);
			}
			catch (TimeoutException ex) {
				// It waits for the lock
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			return sale;
		}

	}

	@EnableTransactionManagement
	static class Transactions {

	}

	static class Told implements LockListener {

		private final List<String> lost = new CopyOnWriteArrayList<>();

		@Override
		public void lost(Call call, String key, Duration holdTime) {
			this.lost.add(key);
		}

	}

	static class Shop extends LockedShop {

		Shop(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW, readOnly = true)
		public int lookApart() {
			return quantity();
		}

		@DistributedLock(key = "'stock'")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void takeApart(Runnable whileRead) {
			sell(whileRead);
		}

	}

}
