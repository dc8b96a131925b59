package io.github.holdfast.transaction.attack;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Attacks on locks that are taken by the first statement of a transaction. */
@Timeout(180)
class TransactionLockAttackTests {

	/**
	 * Attack 3. Red on PostgreSQL if a transaction above READ COMMITTED waits inside of
	 * its snapshot; H2 polls, so that its snapshot is old only if it is unlucky.
	 */
	@ParameterizedTest
	@EnumSource
	void repeatableReadWaitsInAnOldSnapshotBesideReadCommitted(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			CompletableFuture<?>[] next = new CompletableFuture<?>[1];
			assertThatExceptionOfType(Shop.BusinessException.class).isThrownBy(() -> nodes.first.shop().locked(() -> {
				next[0] = Nodes.async(() -> nodes.second.shop().repeatableRead(nodes.second::sell));
				nodes.awaitBlockedOr(() -> database == Database.H2 && nodes.second.waiting() > 0);
				nodes.first.newTransaction().executeWithoutResult((status) -> nodes.first.sell());
				throw new Shop.BusinessException();
			}));
			next[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Attack 4. Red on InnoDB if a new key is inserted before the transaction that did
	 * not find it is rolled back: the INSERT waits for that one, longer than this call.
	 */
	@ParameterizedTest
	@EnumSource
	void firstCallersOfNewKeysMeetInGapLocks(Database database) {
		try (Nodes nodes = new Nodes(database, "holdfast.wait-time=4s")) {
			AtomicInteger calls = new AtomicInteger();
			Nodes.together(8, (thread) -> {
				Nodes.Node node = (thread % 2 == 0) ? nodes.first : nodes.second;
				for (int key = 0; key < 10; key++) {
					node.shop().lockedAll(List.of("new:" + key), calls::incrementAndGet);
				}
			});
			assertThat(calls).hasValue(80);
		}
	}

	/**
	 * Attack 6. Red on InnoDB if the CHECK before the inner COMMIT is a plain read, which
	 * opens the read view of the outer transaction.
	 */
	@ParameterizedTest
	@EnumSource
	void outerTransactionReadsWhatTheInnerOneHasCommitted(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE)) {
			nodes.first.shop().locked(() -> {
				nodes.first.shop().inNewTransaction(nodes.first::sell);
				nodes.first.newTransaction().executeWithoutResult((status) -> {
					assertThat(LockContext.current().orElseThrow().fencingToken()).isPositive();
					nodes.first.sell();
				});
				nodes.first.sell();
			});
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/** PostgreSQL has freed the row then. */
	@Test
	void innerTransactionAfterAnErrorOfTheOuterOneCanBeTriedAgain() {
		try (Nodes nodes = new Nodes(Database.POSTGRESQL, Nodes.ALONE)) {
			assertThatExceptionOfType(Shop.BusinessException.class).isThrownBy(() -> nodes.first.shop().locked(() -> {
				assertThatExceptionOfType(DataIntegrityViolationException.class)
					.isThrownBy(() -> nodes.first.jdbc().update("INSERT INTO sale (n) VALUES (NULL)"));
				assertThatExceptionOfType(CannotAcquireLockException.class).isThrownBy(
						() -> nodes.first.newTransaction().executeWithoutResult((status) -> nodes.first.sell()));
				throw new Shop.BusinessException();
			}));
			assertThat(nodes.sales()).isEmpty();
		}
	}

	/** Attack 6. Red without the CHECK on the outer connection before an inner COMMIT. */
	@ParameterizedTest
	@EnumSource
	void innerTransactionCommitsAfterTheSessionOfTheOuterOneHasEnded(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			assertThatThrownBy(() -> nodes.first.shop().locked(() -> {
				int before = nodes.first.count();
				long session = nodes.session(nodes.first);
				assertThatThrownBy(() -> nodes.first.newTransaction().executeWithoutResult((status) -> {
					nodes.first.insertAfter(before);
					nodes.kill(session);
					Nodes.async(() -> nodes.second.shop().locked(nodes.second::sell)).join();
				})).isInstanceOfAny(LockBackendException.class, CannotAcquireLockException.class);
			})).as("its session has ended").isNotNull();
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 7. Red without the question at the COMMIT. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRESQL")
	void bodySurvivesADeadlockAndCommitsWithoutItsLock(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			Nodes.Deadlock deadlock = nodes.beginDeadlock();
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> nodes.first.shop().locked(() -> {
					int before = nodes.first.count();
					nodes.loseDeadlock(nodes.first, deadlock);
					Nodes.async(() -> nodes.second.shop().locked(nodes.second::sell)).join();
					nodes.first.insertAfter(before);
				}));
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 7. Red if that question does not lock. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRESQL")
	void bodySurvivesADeadlockAndItsInstalledOwnerIsStillSeen(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, store)) {
			CountDownLatch read = new CountDownLatch(1);
			CountDownLatch ended = new CountDownLatch(1);
			CompletableFuture<?>[] next = new CompletableFuture<?>[1];
			Nodes.Deadlock deadlock = nodes.beginDeadlock();
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> nodes.first.shop().facade(() -> {
					try {
						nodes.first.transaction().executeWithoutResult((status) -> {
							int before = nodes.first.count();
							nodes.loseDeadlock(nodes.first, deadlock);
							store.forget();
							next[0] = Nodes.async(() -> nodes.second.shop().locked(() -> {
								int after = nodes.second.count();
								read.countDown();
								nodes.awaitBlockedOr(() -> ended.getCount() == 0);
								nodes.second.insertAfter(after);
							}));
							Nodes.await(read);
							nodes.first.insertAfter(before);
						});
					}
					finally {
						ended.countDown();
					}
				}));
			next[0].join();
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 12. Red if the stack of held locks is not asked. */
	@ParameterizedTest
	@EnumSource
	void innerCallWithRequiresNewWaitsForItsOwnLock(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, "holdfast.wait-time=3s")) {
			nodes.first.shop().locked(() -> nodes.first.shop().inNewTransaction(nodes.first::sell));
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/**
	 * Attack 12. Red if a lock leaves the stack only when all callbacks have been called.
	 */
	@ParameterizedTest
	@EnumSource
	void callbackAfterTheCommitBelievesThatItsLockIsStillHeld(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			CountDownLatch read = new CountDownLatch(1);
			CountDownLatch ended = new CountDownLatch(1);
			CompletableFuture<?>[] other = new CompletableFuture<?>[1];
			nodes.first.shop().locked(() -> {
				nodes.first.sell();
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						other[0] = Nodes.async(() -> nodes.second.shop().locked(() -> {
							int before = nodes.second.count();
							read.countDown();
							Nodes.await(() -> nodes.first.waiting() > 0 || ended.getCount() == 0);
							nodes.second.insertAfter(before);
						}));
						Nodes.await(read);
						nodes.first.shop().inNewTransaction(nodes.first::sell);
						ended.countDown();
					}

				});
			});
			other[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/**
	 * Attack 13. Red without the limit of half of the pool, except on H2, which polls.
	 */
	@ParameterizedTest
	@EnumSource
	void waitersOfHotKeysLeaveNoConnectionToOthers(Database database) {
		List<String> keys = IntStream.range(0, 8).mapToObj((key) -> "hot:" + key).toList();
		try (Nodes nodes = new Nodes(database, "spring.datasource.hikari.maximum-pool-size=4",
				"spring.datasource.hikari.connection-timeout=20000")) {
			List<CompletableFuture<?>> waiters = new ArrayList<>();
			AtomicInteger calls = new AtomicInteger();
			nodes.second.shop().lockedAll(keys, () -> {
				for (int i = 0; i < 16; i++) {
					List<String> key = keys.subList(i % 8, i % 8 + 1);
					waiters.add(Nodes.async(() -> nodes.first.shop().lockedAll(key, calls::incrementAndGet)));
				}
				Nodes.await(() -> nodes.first.waiting() == 16 && (database == Database.H2 || nodes.blocked() >= 2));
				HikariDataSource pool = nodes.first.context().getBean(HikariDataSource.class);
				if (database != Database.H2) {
					Nodes.await(() -> pool.getHikariPoolMXBean().getActiveConnections() == 2);
				}
				assertThat(nodes.first.count()).as("another statement").isZero();
				AtomicInteger free = new AtomicInteger();
				Nodes.async(() -> nodes.first.shop().lockedAll(List.of("free"), free::incrementAndGet)).join();
				assertThat(free).as("a free key").hasValue(1);
				assertThat(calls).hasValue(0);
			});
			CompletableFuture.allOf(waiters.toArray(CompletableFuture<?>[]::new)).join();
			assertThat(calls).hasValue(16);
		}
	}

}
