package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/** Transactions whose first statement locks the row, and whose end releases it. */
class TransactionLockTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@ParameterizedTest
	@EnumSource
	void lockIsTheFirstStatement(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			List<String> statements = nodes.first.statementsOf(nodes.first::take);
			assertThat(statements.get(0)).matches(TransactionLockTests::isLock);
			int looksWhetherTheRowIsLocked = (database == TestDatabase.H2) ? 1 : 0;
			int asksAtCommit = (database == TestDatabase.POSTGRESQL) ? 0 : 1;
			assertThat(statements).filteredOn((sql) -> sql.contains("holdfast"))
				.hasSize(1 + looksWhetherTheRowIsLocked + asksAtCommit);
			assertThat(statements.get(statements.size() - 1)).isEqualTo("commit");
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/** Outside of the transaction, which begins anew. */
	@ParameterizedTest
	@EnumSource
	void firstUseOfAKeyInsertsItsRow(TestDatabase database) {
		run(database, (nodes) -> {
			List<String> statements = nodes.first.statementsOf(nodes.first::take);
			assertThat(statements).filteredOn((sql) -> sql.startsWith("INSERT")).hasSize(1);
			assertThat(statements).filteredOn((sql) -> sql.startsWith("UPDATE stock")).hasSize(1);
			assertThat(nodes.first.jdbc.queryForObject("SELECT count(*) FROM holdfast_lock WHERE expires_at > 0",
					Long.class))
				.as("leases")
				.isZero();
			assertThat(nodes.first.statementsOf(nodes.first::take).get(0)).matches(TransactionLockTests::isLock);
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void rowThatWasPurgedIsInsertedAgain(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			nodes.first.jdbc.update("DELETE FROM holdfast_lock");
			nodes.first.take();
			assertThat(nodes.first.statementsOf(nodes.first::take).get(0)).matches(TransactionLockTests::isLock);
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void otherNodeWaitsForTheTransaction(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			CountDownLatch secondHasRead = new CountDownLatch(1);
			AtomicReference<CompletableFuture<Void>> second = new AtomicReference<>();
			nodes.first.shop.take(() -> {
				second.set(CompletableFuture.runAsync(() -> nodes.second.shop.take(secondHasRead::countDown)));
				await().atMost(PATIENCE).until(() -> nodes.second.recording().statements().size() > 3);
				assertThat(nodes.second.holder()).contains("an open transaction");
				assertThat(secondHasRead.getCount()).isOne();
			});
			second.get().join();
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	/** Its lease is on the same row. */
	@ParameterizedTest
	@EnumSource
	void leaseWaitsForTheTransactionOfAnotherNode(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			AtomicReference<CompletableFuture<Void>> second = new AtomicReference<>();
			nodes.first.shop.take(() -> {
				assertThat(failureOf(() -> nodes.second.locks().withWaitTime(Duration.ZERO).run("stock", () -> {
				}))).isInstanceOf(LockNotAcquiredException.class).hasMessageContaining("an open transaction");
				second.set(nodes.second.start(nodes.second::sellByTemplate));
			});
			second.get().join();
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void transactionWaitsForTheLeaseOfAnotherNode(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			AtomicReference<CompletableFuture<Void>> second = new AtomicReference<>();
			nodes.first.locks().run("stock", () -> {
				assertThat(failureOf(nodes.second.shop::takeNow)).isInstanceOf(LockNotAcquiredException.class);
				second.set(nodes.second.start(nodes.second::take));
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.shop.sell(() -> {
				}));
			});
			second.get().join();
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void waitTimeZeroAsksOnce(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			nodes.second.shop.takeNow();
			nodes.first.shop.take(() -> {
				assertThat(failureOf(nodes.second.shop::takeNow)).isInstanceOf(LockNotAcquiredException.class);
				CompletableFuture.runAsync(nodes.second.shop::skipOrFail).join();
			});
			nodes.second.shop.takeNow();
			assertThat(nodes.quantity()).isEqualTo(95);
		});
	}

	@ParameterizedTest
	@EnumSource
	void severalKeysAreLockedTogether(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeUnderTwoLocks();
			nodes.first.shop.takeUnderTwoLocks();
			List<String> statements = nodes.first.statementsOf(nodes.first.shop::takeUnderTwoLocks);
			assertThat(statements.get(0)).matches(TransactionLockTests::isLock);
			nodes.first.shop.take(() -> {
				assertThat(failureOf(nodes.second.shop::takeTwoNow)).isInstanceOf(LockNotAcquiredException.class);
			});
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void tokensRiseWhoeverHolds(TestDatabase database) {
		run(database, (nodes) -> {
			List<Long> tokens = new ArrayList<>();
			Runnable note = () -> tokens.add(LockContext.current().orElseThrow().fencingToken());
			for (int i = 0; i < 3; i++) {
				nodes.first.shop.take(note);
				nodes.second.shop.take(note);
				nodes.first.locks().run("stock", note::run);
			}
			assertThat(tokens).hasSize(9).isSorted().doesNotHaveDuplicates();
		});
	}

	/** Others may have had the lock between the look and the loss of the row. */
	@ParameterizedTest
	@EnumSource
	void tokenIsNotOlderThanTheLossOfTheRow(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			AtomicReference<CompletableFuture<Long>> second = new AtomicReference<>();
			AtomicLong lost = new AtomicLong();
			LockTemplate locks = nodes.second.locks();
			nodes.first.transaction().executeWithoutResult((status) -> {
				nodes.first.jdbc.update("UPDATE holdfast_lock SET holder = 'nobody'");
				nodes.second.recording().clear();
				second.set(CompletableFuture.supplyAsync(() -> locks.execute("stock", () -> nodes.second.jdbc
					.queryForObject("SELECT max(epoch) FROM holdfast_lock WHERE owner IS NOT NULL", Long.class))));
				await().atMost(PATIENCE)
					.until(() -> nodes.second.recording()
						.statements()
						.stream()
						.anyMatch((sql) -> sql.contains("epoch")));
				lost.set(nodes.second.laterTime(database));
				nodes.first.jdbc.update("DELETE FROM holdfast_lock");
			});
			assertThat(second.get().join()).isGreaterThan(lost.get());
		});
	}

	@ParameterizedTest
	@EnumSource
	void listenersAreToldWhenTheRowIsLocked(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothLock();
			List<String> told = nodes.first.context.getBean(Told.class).events;
			told.clear();
			nodes.first.shop.take(() -> told.add("body"));
			assertThat(told).containsExactly("attempted", "acquired", "body", "released RELEASED");
			told.clear();
			nodes.second.shop.take(() -> assertThat(failureOf(nodes.first.shop::takeNow))
				.isInstanceOf(LockNotAcquiredException.class));
			assertThat(told).containsExactly("attempted", "notAcquired BUSY");
		});
	}

	/** How a call of another thread has failed. */
	private static Throwable failureOf(ThrowingCallable call) {
		return CompletableFuture.supplyAsync(() -> catchThrowable(call)).join();
	}

	static boolean isLock(String sql) {
		return sql.equals("UPDATE holdfast_lock SET epoch = epoch + 1, owner = ? WHERE lock_key = ? AND expires_at = 0")
				|| sql.equals("SELECT epoch FROM holdfast_lock WHERE lock_key = ? FOR UPDATE SKIP LOCKED");
	}

	private void run(TestDatabase database, ThrowingConsumer<Nodes> scenario) {
		ApplicationContextRunner application = LockedApplication.jdbc(database.newDatabase())
			.withUserConfiguration(RecordingDataSource.Beans.class)
			.withPropertyValues(RecordingDataSource.GUARDED)
			.withBean(Shop.class)
			.withBean(Told.class)
			.withPropertyValues("holdfast.wait-time=30s", "holdfast.lease-time=30s");
		application.run((first) -> {
			LockedShop.createTables(first.getBean(JdbcTemplate.class));
			application.run((second) -> scenario.accept(new Nodes(new Node(first), new Node(second))));
		});
	}

	private record Nodes(Node first, Node second) {

		/** Each has used the key. */
		void bothLock() {
			this.first.take();
			this.second.take();
		}

		int quantity() {
			return this.second.shop.quantity();
		}

	}

	private static final class Node {

		private final ApplicationContext context;

		private final Shop shop;

		private final JdbcTemplate jdbc;

		Node(ApplicationContext context) {
			this.context = context;
			this.shop = context.getBean(Shop.class);
			this.jdbc = context.getBean(JdbcTemplate.class);
		}

		void take() {
			this.shop.take(() -> {
			});
		}

		/**
		 * Starts calls on a thread, and returns when they have told the database
		 * something.
		 */
		CompletableFuture<Void> start(Runnable calls) {
			recording().clear();
			CompletableFuture<Void> end = new CompletableFuture<>();
			new Thread(() -> end.completeAsync(() -> {
				calls.run();
				return null;
			}, Runnable::run)).start();
			await().atMost(PATIENCE).until(() -> end.isDone() || !recording().statements().isEmpty());
			return end;
		}

		/** The clock of the database, 300 ms after it was first asked. */
		long laterTime(TestDatabase database) {
			String now = switch (database) {
				case H2 -> "SELECT cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)";
				case MARIADB -> "SELECT timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))";
				case POSTGRESQL -> "SELECT (extract(epoch from clock_timestamp()) * 1000000)::bigint";
			};
			long first = this.jdbc.queryForObject(now, Long.class);
			AtomicLong later = new AtomicLong();
			await().atMost(PATIENCE).until(() -> {
				later.set(this.jdbc.queryForObject(now, Long.class));
				return later.get() > first + 300_000;
			});
			return later.get();
		}

		void sellByTemplate() {
			locks().run("stock", () -> transaction().executeWithoutResult((status) -> this.shop.sell(() -> {
			})));
		}

		LockTemplate locks() {
			return this.context.getBean(LockTemplate.class);
		}

		TransactionTemplate transaction() {
			return new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
		}

		String holder() {
			return this.context.getBean(LockBackend.class).holder("holdfast:stock").description();
		}

		List<String> statementsOf(Runnable action) {
			recording().clear();
			action.run();
			return recording().statements();
		}

		RecordingDataSource recording() {
			return (RecordingDataSource) this.context.getBean(DataSource.class);
		}

	}

	static class Shop extends LockedShop {

		Shop(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@DistributedLock(key = "'stock'", waitTime = "0s")
		@Transactional
		public void takeNow() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "{'stock', 'other stock'}", waitTime = "0s")
		@Transactional
		public void takeTwoNow() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'", waitTime = "0s", onBusy = DistributedLock.OnBusy.SKIP)
		@Transactional
		public void skipOrFail() {
			throw new IllegalStateException("Not skipped");
		}

	}

	static class Told implements LockListener {

		private final List<String> events = new CopyOnWriteArrayList<>();

		@Override
		public void onAttempt(Call call) {
			this.events.add("attempted");
		}

		@Override
		public void onAcquired(Call call, Duration waitTime) {
			this.events.add("acquired");
		}

		@Override
		public void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
			this.events.add("notAcquired " + reason);
		}

		@Override
		public void onReleased(Call call, Outcome outcome, Duration holdTime) {
			this.events.add("released " + outcome);
		}

	}

}
