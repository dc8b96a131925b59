package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Callbacks after the end of a transaction lock, although the locked call has not ended:
 * a commit leaves the lock to those that it knows of.
 */
@Tag("F98")
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
	 * Nothing would check what it writes.
	 */
	@ParameterizedTest
	@EnumSource
	void callWithoutATransactionInACallbackHasTheLock(TestDatabase database) {
		run(database, (node, other) -> {
			node.learn();
			other.learn();
			AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
			node.takeAndThen(() -> node.shop.takeApart(() -> sale.set(other.tryToTake())));
			sale.get().join();
			assertThat(node.shop.quantity()).as("three sales more").isEqualTo(93);
			assertThat(node.told.lost).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void writeOfACallbackInAutoCommitIsUnderTheLock(TestDatabase database) {
		run(database, (node, other) -> {
			node.learn();
			other.learn();
			AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
			node.takeAndThen(() -> node.shop.sellApart(() -> sale.set(other.tryToTake())));
			sale.get().join();
			assertThat(node.shop.quantity()).as("three sales more").isEqualTo(93);
			assertThat(node.told.lost).isEmpty();
		});
	}

	/**
	 * On the connection of the transaction, or apart from it, as with JPA.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void listenerOfTheManagerIsUnderTheLock(TestDatabase database, boolean apart) {
		run(database, (node, other) -> {
			node.learn();
			other.learn();
			AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
			Runnable tryToTake = () -> sale.compareAndSet(null, other.tryToTake());
			node.manager.addListener((CommitListener) () -> {
				if (sale.get() == null && apart) {
					node.shop.sellApart(tryToTake);
				}
				else if (sale.get() == null) {
					node.shop.sell(tryToTake);
				}
			});
			node.shop.take(() -> {
			});
			sale.get().join();
			assertThat(node.shop.quantity()).as("three sales more").isEqualTo(93);
			assertThat(node.told.lost).isEmpty();
		});
	}

	/**
	 * A rollback leaves nothing to its callbacks, unless nobody has waited just then.
	 */
	@ParameterizedTest
	@EnumSource
	void callWithoutATransactionAfterARollbackDoesNotRunWithoutItsLock(TestDatabase database) {
		AtomicReference<Throwable> refusal = new AtomicReference<>();
		for (int attempt = 0; attempt < 5 && refusal.get() == null; attempt++) {
			run(database, (node, other) -> refusal.set(refusalAfterARollback(node, other)));
		}
		if (database != TestDatabase.H2) {
			assertThat(refusal.get()).isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("has just ended, and ended with it");
		}
	}

	/**
	 * The call in a callback is refused if another node has got the lock.
	 */
	private static Throwable refusalAfterARollback(Node node, Node other) {
		node.learn();
		other.learn();
		CountDownLatch sells = new CountDownLatch(1);
		CountDownLatch goesOn = new CountDownLatch(1);
		AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
		AtomicReference<Throwable> refusal = new AtomicReference<>();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> node.shop.take(() -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					boolean taken = await(sells, 3);
					refusal.set(catchThrowable(() -> node.shop.takeApart(() -> {
					})));
					assertThat(refusal.get() != null).as("refused").isEqualTo(taken);
					Throwable ofBoth = catchThrowable(() -> node.locks.execute(List.of("other", "stock"), () -> null));
					assertThat(ofBoth != null).as("refused with another one").isEqualTo(taken);
					goesOn.countDown();
				}

			});
			sale.set(other.tryToTake(300, () -> {
				sells.countDown();
				await(goesOn, 60);
			}));
			throw new IllegalStateException("of the method");
		})).withMessage("of the method");
		sale.get().join();
		assertThat(node.shop.quantity()).isEqualTo((refusal.get() != null) ? 95 : 94);
		return refusal.get();
	}

	private static boolean await(CountDownLatch latch, int seconds) {
		try {
			return latch.await(seconds, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
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

	/**
	 * Its implementations inherit the method that Spring calls.
	 */
	private interface CommitListener extends TransactionExecutionListener {

		void committed();

		@Override
		default void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
			committed();
		}

	}

	private interface Scenario {

		void run(Node node, Node other);

	}

	private static final class Node {

		private final Shop shop;

		private final Told told;

		private final LockTemplate locks;

		private final ConfigurableTransactionManager manager;

		Node(ApplicationContext context) {
			this.manager = context.getBean(ConfigurableTransactionManager.class);
			this.locks = context.getBean(LockTemplate.class);
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

		CompletableFuture<Void> tryToTake() {
			return tryToTake(1000, () -> {
			});
		}

		/**
		 * Take a piece, if the lock is free within some milliseconds, or else when it is.
		 */
		CompletableFuture<Void> tryToTake(int millis, Runnable whileRead) {
			CompletableFuture<Void> sale = CompletableFuture.runAsync(() -> this.shop.take(whileRead),
					(task) -> new Thread(task).start());
			try {
				sale.get(millis, TimeUnit.MILLISECONDS);
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

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void sellApart(Runnable whileRead) {
			sell(whileRead);
		}

		@DistributedLock(key = "'stock'")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void takeApart(Runnable whileRead) {
			sell(whileRead);
		}

	}

}
