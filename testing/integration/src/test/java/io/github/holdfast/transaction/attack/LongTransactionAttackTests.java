package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import jakarta.persistence.EntityManager;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Attacks on leases by transactions that are longer than they are, or that outlive them.
 */
@Timeout(180)
class LongTransactionAttackTests {

	/**
	 * Attack 2. Red without the RENEW before a late COMMIT. The clock of H2 stands still
	 * inside of a transaction.
	 */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void transactionThatIsLongerThanItsLeaseLosesIt(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			CompletableFuture<?>[] next = new CompletableFuture<?>[1];
			nodes.first.locks().withLeaseTime(Duration.ofSeconds(1)).run("stock", () -> {
				Integer before = nodes.first.transaction().execute((status) -> {
					int count = nodes.first.count();
					nodes.awaitRunOut();
					next[0] = Nodes.async(() -> nodes.second.shop().facade(nodes.second::sell));
					nodes.awaitBlockedOr(next[0]::isDone);
					return count;
				});
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.insertAfter(before));
			});
			next[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Attack 2. Red if renewals are sent while a transaction of the holder has claimed
	 * the row, and wait for it.
	 */
	@ParameterizedTest
	@EnumSource
	void renewalsOfALeaseBlockBehindTheirOwnTransaction(Database database) {
		try (Nodes nodes = new Nodes(database)) {
			AtomicBoolean blocked = new AtomicBoolean();
			nodes.first.shop().held(() -> {
				nodes.first.sell();
				CompletableFuture<Void> runOut = Nodes.async(nodes::awaitRunOut);
				Nodes.await(() -> {
					blocked.compareAndSet(false, nodes.blocked() > 0);
					return runOut.isDone();
				});
			});
			assertThat(blocked).isFalse();
			nodes.second.shop().locked(nodes.second::sell);
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Attack 15. Red if a lock is handed over or released although nobody knows the
	 * outcome of a COMMIT.
	 */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsBeforeACommitWhoseAnswerWasLost(Database database) {
		loseAnswerToCommit(database, Wire.WireConfiguration.class);
	}

	/**
	 * Attack 15, by JPA, which says that such a transaction was rolled back.
	 */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsBeforeACommitOfJpaWhoseAnswerWasLost(Database database) {
		loseAnswerToCommit(database, WiredJpa.class);
	}

	/**
	 * Attack 15, by an inner transaction whose outer one is committed as usual. The lock
	 * is kept until its lease has run out, which is not before the COMMIT arrives.
	 */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsBeforeAnInnerCommitWhoseAnswerWasLost(Database database) {
		try (Nodes nodes = new Nodes(database, Wire.WireConfiguration.class, Wire.NAMED, "holdfast.lease-time=10s",
				"holdfast.handover-limit=1h")) {
			Wire wire = nodes.first.context().getBean(Wire.class);
			Next next = new Next(nodes);
			nodes.first.shop().facade(() -> {
				next.start(nodes.first.locks());
				nodes.first.transaction()
					.executeWithoutResult((outer) -> assertThatThrownBy(
							() -> nodes.first.newTransaction().executeWithoutResult((status) -> {
								nodes.first.sell();
								wire.delayNext("COMMIT"::equals);
							}))
						.isNotNull());
			});
			next.mayRead();
			wire.deliver();
			next.call.get().join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * A COMMIT that the database has refused is no reason to keep the lock.
	 */
	@ParameterizedTest
	@EnumSource
	void lockIsFreeAfterAFlushThatFailed(Database database) {
		try (Nodes nodes = new Nodes(database, JpaAttackTests.Jpa.class, "holdfast.lease-time=10m")) {
			assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(() -> nodes.first.shop()
				.facade(() -> nodes.first.transaction()
					.executeWithoutResult((status) -> nodes.first.context()
						.getBean(EntityManager.class)
						.persist(new JpaAttackTests.Item(1)))));
			assertThat(nodes.leases()).isZero();
			nodes.second.shop().locked(nodes.second::sell);
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	private static void loseAnswerToCommit(Database database, Class<?> configuration) {
		try (Nodes nodes = new Nodes(database, configuration, Wire.NAMED, "holdfast.handover-limit=1h")) {
			Wire wire = nodes.first.context().getBean(Wire.class);
			Next next = new Next(nodes);
			assertThatThrownBy(() -> briefly(nodes).run("stock", () -> {
				next.start(briefly(nodes));
				nodes.first.transaction().executeWithoutResult((status) -> {
					nodes.first.sell();
					wire.delayNext("COMMIT"::equals);
				});
			})).isNotNull();
			nodes.awaitBlockedOr(next::hasRead);
			wire.deliver();
			next.call.get().join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Attack 15. Red if a scope that is closed inside of its transaction ends at once.
	 */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsWhileTheTransactionIsStillOpen(Database database) {
		try (Nodes nodes = new Nodes(database, "holdfast.handover-limit=1h")) {
			Next next = new Next(nodes);
			LockTemplate.Scope scope = nodes.first.locks().acquire("stock");
			next.start(nodes.first.locks());
			nodes.first.transaction().executeWithoutResult((status) -> {
				nodes.first.sell();
				scope.close();
				next.mayRead();
			});
			next.call.get().join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Attack 15. Red if a thread hands a lock over that another thread has acquired.
	 */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsWhileTheThreadOfTheHolderStillWorks(Database database) {
		try (Nodes nodes = new Nodes(database, "holdfast.handover-limit=1h")) {
			Next next = new Next(nodes);
			LockTemplate.Scope scope = nodes.first.locks().acquire("stock");
			next.start(nodes.first.locks());
			AtomicReference<CompletableFuture<Void>> closing = new AtomicReference<>();
			nodes.first.transaction().executeWithoutResult((status) -> {
				nodes.first.sell();
				closing.set(Nodes.async(scope::close));
				nodes.awaitBlockedOr(next::hasRead);
			});
			closing.get().join();
			next.call.get().join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Attack 20. Red if the epoch of a row is read although a lease that has run out is
	 * in it.
	 */
	@ParameterizedTest
	@EnumSource
	void optimisticCallReadsTheEpochOfALeaseThatHasRunOut(Database database) {
		try (Nodes nodes = new Nodes(database, Shop.Optimistic.class)) {
			CountDownLatch read = new CountDownLatch(1);
			CountDownLatch ended = new CountDownLatch(1);
			CompletableFuture<?>[] optimistic = new CompletableFuture<?>[1];
			nodes.first.shop().held(() -> {
				int before = nodes.first.count();
				nodes.awaitRunOut();
				optimistic[0] = Nodes.async(() -> nodes.second.context().getBean(Shop.Optimistic.class).sell(() -> {
					int after = nodes.second.count();
					read.countDown();
					Nodes.await(ended);
					nodes.second.insertAfter(after);
				}));
				// It polls, so nothing shows that it waits. It asks several times
				// meanwhile
				await().during(Duration.ofSeconds(1))
					.atMost(Duration.ofSeconds(60))
					.until(() -> read.getCount() == 0 || !optimistic[0].isDone());
				nodes.first.insertAfter(before);
			});
			ended.countDown();
			optimistic[0].join();
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Red, by a failure of the store, if the others wait for the row of such a lease.
	 */
	@ParameterizedTest
	@EnumSource
	void leaseThatHasRunOutUnderItsTransactionIsBusy(Database database) {
		try (Nodes nodes = new Nodes(database, "holdfast.wait-time=1s")) {
			nodes.first.shop().held(() -> {
				nodes.first.sell();
				nodes.awaitRunOut();
				assertThatThrownBy(() -> Nodes.async(() -> nodes.second.shop().locked(nodes.second::sell)).join())
					.hasCauseInstanceOf(LockNotAcquiredException.class);
			});
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/**
	 * Red if only the innermost transaction counts.
	 */
	@ParameterizedTest
	@EnumSource
	void scopeThatIsClosedInAnInnerTransactionLastsUntilTheOuterOneHasEnded(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, store)) {
			TransactionTemplate inner = new TransactionTemplate(
					nodes.first.context().getBean(PlatformTransactionManager.class));
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			LockTemplate.Scope scope = nodes.first.context().getBean(LockTemplate.class).acquire("stock");
			nodes.first.transaction().executeWithoutResult((outer) -> {
				nodes.first.sell();
				inner.executeWithoutResult((status) -> scope.close());
				assertThat(store.isHeld()).isTrue();
			});
			assertThat(store.isHeld()).isFalse();
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Wire.WireConfiguration.class, JpaAttackTests.Jpa.class })
	static class WiredJpa {

	}

	private static LockTemplate briefly(Nodes nodes) {
		return nodes.first.locks().withLeaseTime(Duration.ofSeconds(2));
	}

	/**
	 * The next thread of the same node, that waits for the lock, reads, and sells.
	 */
	private static final class Next {

		private final Nodes nodes;

		private final CountDownLatch read = new CountDownLatch(1);

		private final AtomicReference<CompletableFuture<Void>> call = new AtomicReference<>();

		private Next(Nodes nodes) {
			this.nodes = nodes;
		}

		private void start(LockTemplate locks) {
			Nodes.Node node = this.nodes.first;
			this.call.set(Nodes.async(() -> locks.run("stock", () -> {
				int before = node.count();
				this.read.countDown();
				node.transaction().executeWithoutResult((status) -> node.insertAfter(before));
			})));
			Nodes.await(() -> node.waiting() == 1);
		}

		private boolean hasRead() {
			return this.read.getCount() == 0;
		}

		/**
		 * Gives it the time to do what it must not do.
		 */
		private void mayRead() {
			try {
				assertThat(this.read.await(1, TimeUnit.SECONDS)).isFalse();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
