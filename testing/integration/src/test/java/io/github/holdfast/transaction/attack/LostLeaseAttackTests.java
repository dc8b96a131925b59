package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Attacks by holders whose lease is lost. */
@Timeout(180)
class LostLeaseAttackTests {

	/** Attack 1. Red without the installation of a grant before the body. */
	@ParameterizedTest
	@EnumSource
	void facadeReadsBeforeTheLastHolderHasCommitted(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, store)) {
			AtomicBoolean read = new AtomicBoolean();
			AtomicInteger before = new AtomicInteger();
			CompletableFuture<?>[] facade = new CompletableFuture<?>[1];
			nodes.first.shop().locked(() -> {
				nodes.first.sell();
				store.forget();
				facade[0] = Nodes.async(() -> nodes.second.shop().facade(() -> {
					before.set(nodes.second.count());
					read.set(true);
					nodes.second.transaction().executeWithoutResult((status) -> nodes.second.insertAfter(before.get()));
				}));
				nodes.awaitBlockedOr(read::get);
			});
			facade[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/** Attack 5. Red if a transaction takes the row of a lease that has run out. */
	@ParameterizedTest
	@EnumSource
	void lateHolderFindsItsRowAgainAfterARollback(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> runOut(nodes.first.locks()).run("stock", () -> {
					int before = inTransaction(nodes.first);
					nodes.awaitRunOut();
					assertThatExceptionOfType(Shop.BusinessException.class)
						.isThrownBy(() -> elsewhere(() -> nodes.second.shop().locked(() -> {
							nodes.second.newTransaction().executeWithoutResult((status) -> nodes.second.sell());
							throw new Shop.BusinessException();
						})));
					nodes.first.transaction().executeWithoutResult((status) -> nodes.first.insertAfter(before));
				}));
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 9. Red without {@code setRollbackOnly} when the claim has failed. */
	@ParameterizedTest
	@EnumSource
	void transactionTemplateCommitsAlthoughItsClaimHasFailed(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> nodes.first.shop().facade(() -> {
				int before = nodes.first.count();
				assertThat(nodes.second.context().getBean(LockManager.class).forceRelease("holdfast:stock")).isTrue();
				elsewhere(() -> nodes.second.shop().locked(nodes.second::sell));
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.insertAfter(before));
			}));
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/**
	 * Attack 16. Red if a claim counts as an installation although it was rolled back.
	 */
	@ParameterizedTest
	@EnumSource
	void grantIsHandedOverAfterItsClaimWasRolledBack(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, store, "holdfast.handover-limit=1h")) {
			CompletableFuture<?>[] next = new CompletableFuture<?>[1];
			assertThatExceptionOfType(Shop.BusinessException.class).isThrownBy(() -> nodes.first.shop().locked(() -> {
				next[0] = Nodes.async(() -> nodes.first.shop().locked(nodes.first::sell));
				Nodes.await(() -> nodes.first.waiting() == 1);
				throw new Shop.BusinessException();
			}));
			next[0].join();
			assertThat(store.grants()).as("one grant for both").isOne();
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** A holder that is paused before its installation acquires anew. */
	@ParameterizedTest
	@EnumSource
	void grantThatIsSupersededBeforeItsInstallationIsAcquiredAnew(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, store)) {
			nodes.first.shop().locked(nodes.first::sell);
			store.afterNextGrant(() -> {
				store.forget();
				elsewhere(() -> nodes.second.shop().locked(nodes.second::sell));
			});
			nodes.first.shop()
				.facade(() -> nodes.first.transaction().executeWithoutResult((status) -> nodes.first.sell()));
			assertThat(store.grants()).isEqualTo(4);
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/** Attack 17. Red if the row of another store begins with the clock as its epoch. */
	@ParameterizedTest
	@EnumSource
	void firstTokenOfAnotherStoreDoesNotPassItsNewRow(Database database) {
		try (Nodes nodes = new Nodes(database, new ForgetfulStore())) {
			nodes.first.shop().locked(nodes.first::sell);
			nodes.second.shop().locked(nodes.second::sell);
			nodes.first.shop()
				.facade(() -> nodes.first.transaction().executeWithoutResult((status) -> nodes.first.sell()));
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/** Attack 18. Red if an installed holder that finds no row inserts it again. */
	@ParameterizedTest
	@EnumSource
	void supersededHolderPassesAfterItsRowWasPurged(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, store)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> nodes.first.shop().facade(() -> {
				int before = inTransaction(nodes.first);
				store.forget();
				elsewhere(() -> nodes.second.shop().locked(nodes.second::sell));
				nodes.execute("DELETE FROM holdfast_lock");
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.insertAfter(before));
			}));
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 19. Red if two attempts of a node have the same owner. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void lateAttemptWhoseAnswerWasLostNamesAnOldHolderAgain(Database database) {
		try (Nodes nodes = new Nodes(database, Wire.WireConfiguration.class, Wire.NAMED)) {
			Wire wire = nodes.first.context().getBean(Wire.class);
			wire.delayNext((sql) -> sql.contains("SET epoch = ") && sql.contains("holder = ?"));
			LockTemplate locks = runOut(nodes.first.locks());
			// Another session is tried, with an owner of its own
			locks.run("stock", () -> {
			});
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks.run("stock", () -> {
				int before = inTransaction(nodes.first);
				nodes.awaitRunOut();
				elsewhere(() -> nodes.second.shop().locked(nodes.second::sell));
				wire.deliver();
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.insertAfter(before));
			}));
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Leases that are not renewed, as those of a node that is paused. */
	private static LockTemplate runOut(LockTemplate locks) {
		return locks.withLeaseTime(Duration.ofSeconds(1)).withMaxHoldTime(Duration.ofMillis(1));
	}

	private static int inTransaction(Nodes.Node node) {
		Integer count = node.transaction().execute((status) -> node.count());
		assertThat(count).isNotNull();
		return count;
	}

	/** Runs work on another thread to its end. */
	private static void elsewhere(Runnable work) {
		CountDownLatch ended = new CountDownLatch(1);
		CompletableFuture<Void> other = Nodes.async(work);
		other.whenComplete((result, ex) -> ended.countDown());
		Nodes.await(ended);
		if (other.isCompletedExceptionally()) {
			throw (RuntimeException) other.handle((result, ex) -> ex.getCause()).join();
		}
	}

}
