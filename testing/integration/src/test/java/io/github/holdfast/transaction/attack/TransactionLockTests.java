package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.transaction.RecordingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Transactions whose first statement locks the row, and whose end releases it. */
@Timeout(180)
class TransactionLockTests {

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void lockIsTheFirstStatement(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			List<String> statements = statementsOf(nodes.first, () -> sell(nodes.first));
			assertThat(statements.get(0)).matches(RecordingDataSource::isLock);
			int looksWhetherTheRowIsLocked = (database == Database.H2) ? 1 : 0;
			int asksAtCommit = (database == Database.POSTGRESQL) ? 0 : 1;
			assertThat(statements).filteredOn((sql) -> sql.contains("holdfast"))
				.hasSize(1 + looksWhetherTheRowIsLocked + asksAtCommit);
			assertThat(statements.get(statements.size() - 1)).isEqualTo("commit");
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/** Outside of the transaction, which begins anew. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void firstUseOfAKeyInsertsItsRow(Database database) {
		try (Nodes nodes = nodes(database)) {
			List<String> statements = statementsOf(nodes.first, () -> sell(nodes.first));
			assertThat(statements).filteredOn((sql) -> sql.startsWith("INSERT") && sql.contains("holdfast")).hasSize(1);
			assertThat(statements).filteredOn((sql) -> sql.startsWith("INSERT INTO sale")).hasSize(1);
			assertThat(nodes.first.jdbc()
				.queryForObject("SELECT count(*) FROM holdfast_lock WHERE expires_at > 0", Long.class)).as("leases")
				.isZero();
			assertThat(statementsOf(nodes.first, () -> sell(nodes.first)).get(0)).matches(RecordingDataSource::isLock);
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void rowThatWasPurgedIsInsertedAgain(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			nodes.execute("DELETE FROM holdfast_lock");
			sell(nodes.first);
			assertThat(statementsOf(nodes.first, () -> sell(nodes.first)).get(0)).matches(RecordingDataSource::isLock);
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void otherNodeWaitsForTheTransaction(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			CountDownLatch secondHasRead = new CountDownLatch(1);
			CompletableFuture<?>[] second = new CompletableFuture<?>[1];
			nodes.first.shop().locked(() -> {
				int before = nodes.first.count();
				second[0] = start(nodes.second, () -> nodes.second.shop().locked(() -> {
					secondHasRead.countDown();
					nodes.second.sell();
				}));
				assertThat(nodes.second.context().getBean(LockBackend.class).holder("holdfast:stock").description())
					.contains("an open transaction");
				assertThat(secondHasRead.getCount()).isOne();
				nodes.first.insertAfter(before);
			});
			second[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4);
		}
	}

	/** Its lease is on the same row. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void leaseWaitsForTheTransactionOfAnotherNode(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			CompletableFuture<?>[] second = new CompletableFuture<?>[1];
			nodes.first.shop().locked(() -> {
				int before = nodes.first.count();
				assertThat(failureOf(() -> nodes.second.locks().withWaitTime(Duration.ZERO).run("stock", () -> {
				}))).isInstanceOf(LockNotAcquiredException.class).hasMessageContaining("an open transaction");
				second[0] = start(nodes.second, () -> nodes.second.shop()
					.facade(() -> nodes.second.transaction().executeWithoutResult((status) -> nodes.second.sell())));
				nodes.first.insertAfter(before);
			});
			second[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void transactionWaitsForTheLeaseOfAnotherNode(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			CompletableFuture<?>[] second = new CompletableFuture<?>[1];
			nodes.first.shop().facade(() -> {
				assertThat(failureOf(() -> now(nodes.second, "stock"))).isInstanceOf(LockNotAcquiredException.class);
				second[0] = start(nodes.second, () -> sell(nodes.second));
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.sell());
			});
			second[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void waitTimeZeroAsksOnce(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			now(nodes.second, "stock");
			nodes.first.shop().locked(() -> {
				assertThat(failureOf(() -> now(nodes.second, "stock"))).isInstanceOf(LockNotAcquiredException.class);
				Nodes.async(nodes.second.context().getBean(Now.class)::skipOrFail).join();
				nodes.first.sell();
			});
			now(nodes.second, "stock");
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4, 5);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void severalKeysAreLockedTogether(Database database) {
		try (Nodes nodes = nodes(database)) {
			Runnable sellUnderTwoLocks = () -> nodes.first.shop()
				.lockedAll(List.of("stock", "other stock"), nodes.first::sell);
			sellUnderTwoLocks.run();
			sellUnderTwoLocks.run();
			assertThat(statementsOf(nodes.first, sellUnderTwoLocks).get(0)).matches(RecordingDataSource::isLock);
			nodes.first.shop().locked(() -> {
				assertThat(failureOf(() -> now(nodes.second, "stock", "other stock")))
					.isInstanceOf(LockNotAcquiredException.class);
				nodes.first.sell();
			});
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void tokensRiseWhoeverHolds(Database database) {
		try (Nodes nodes = nodes(database)) {
			List<Long> tokens = new ArrayList<>();
			Runnable note = () -> tokens.add(LockContext.current().orElseThrow().fencingToken());
			for (int i = 0; i < 3; i++) {
				nodes.first.shop().locked(note);
				nodes.second.shop().locked(note);
				nodes.first.shop().facade(note);
			}
			assertThat(tokens).hasSize(9).isSorted().doesNotHaveDuplicates();
		}
	}

	/** Others may have had the lock between the look and the loss of the row. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void tokenIsNotOlderThanTheLossOfTheRow(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			long[] epoch = new long[1];
			long[] lost = new long[1];
			CompletableFuture<?>[] second = new CompletableFuture<?>[1];
			nodes.first.transaction().executeWithoutResult((status) -> {
				nodes.first.jdbc().update("UPDATE holdfast_lock SET holder = 'nobody'");
				recording(nodes.second).clear();
				second[0] = Nodes.async(() -> nodes.second.shop()
					.facade(() -> epoch[0] = number(nodes.second,
							"SELECT max(epoch) FROM holdfast_lock WHERE owner IS NOT NULL")));
				Nodes.await(
						() -> recording(nodes.second).statements().stream().anyMatch((sql) -> sql.contains("epoch")));
				long asked = number(nodes.second, "SELECT " + database.now);
				Nodes.await(() -> {
					lost[0] = number(nodes.second, "SELECT " + database.now);
					return lost[0] > asked + 300_000;
				});
				nodes.first.jdbc().update("DELETE FROM holdfast_lock");
			});
			second[0].join();
			assertThat(epoch[0]).isGreaterThan(lost[0]);
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void listenersAreToldWhenTheRowIsLocked(Database database) {
		try (Nodes nodes = nodes(database)) {
			bothSell(nodes);
			List<String> told = nodes.first.context().getBean(Told.class).events;
			told.clear();
			nodes.first.shop().locked(() -> told.add("body"));
			assertThat(told).containsExactly("attempted", "acquired", "body", "released RELEASED");
			told.clear();
			nodes.second.shop()
				.locked(() -> assertThat(failureOf(() -> now(nodes.first, "stock")))
					.isInstanceOf(LockNotAcquiredException.class));
			assertThat(told).containsExactly("attempted", "notAcquired BUSY");
		}
	}

	private static Nodes nodes(Database database) {
		return new Nodes(database, RecordingDataSource.Beans.class, RecordingDataSource.GUARDED, Now.class, Told.class);
	}

	/** Each has used the key. */
	private static void bothSell(Nodes nodes) {
		sell(nodes.first);
		sell(nodes.second);
	}

	private static void sell(Nodes.Node node) {
		node.shop().locked(node::sell);
	}

	private static void now(Nodes.Node node, String... keys) {
		node.context().getBean(Now.class).locked(List.of(keys), node::sell);
	}

	/** How a call of another thread has failed. */
	private static Throwable failureOf(ThrowingCallable call) {
		return CompletableFuture.supplyAsync(() -> catchThrowable(call)).join();
	}

	/** Starts a call that waits, and returns when it has told the database something. */
	private static CompletableFuture<Void> start(Nodes.Node node, Runnable call) {
		recording(node).clear();
		CompletableFuture<Void> end = Nodes.async(call);
		Nodes.await(() -> end.isDone() || !recording(node).statements().isEmpty());
		return end;
	}

	private static List<String> statementsOf(Nodes.Node node, Runnable action) {
		recording(node).clear();
		action.run();
		return recording(node).statements();
	}

	private static RecordingDataSource recording(Nodes.Node node) {
		return (RecordingDataSource) node.context().getBean(DataSource.class);
	}

	private static long number(Nodes.Node node, String sql) {
		return node.jdbc().queryForObject(sql, Long.class);
	}

	static class Now {

		@DistributedLock(key = "#keys", waitTime = "0s")
		@Transactional
		void locked(List<String> keys, Runnable body) {
			body.run();
		}

		@DistributedLock(key = "'stock'", waitTime = "0s", onBusy = DistributedLock.OnBusy.SKIP)
		@Transactional
		void skipOrFail() {
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
			this.events.add("notAcquired " + reason + ((LockCall.current() != null) ? " under the lock" : ""));
		}

		@Override
		public void onReleased(Call call, Outcome outcome, Duration holdTime) {
			this.events.add("released " + outcome);
		}

	}

}
