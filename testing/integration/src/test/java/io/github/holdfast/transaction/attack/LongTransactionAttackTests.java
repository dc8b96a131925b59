package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import jakarta.persistence.EntityManager;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
	 * Attack 2. Red without the RENEW before a late COMMIT. The clock of H2 stands still.
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

	/** Attack 2. Red if renewals wait for the transaction that has claimed the row. */
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

	/** A COMMIT that the database has refused is no reason to keep the lock. */
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

	/** Attack 20. Red if the epoch is read beside a lease that has run out. */
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

	/** Red, by a failure of the store, if the others wait for the row of such a lease. */
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

	/** Red if only the innermost transaction counts. */
	@ParameterizedTest
	@EnumSource
	void scopeThatIsClosedInAnInnerTransactionLastsUntilTheOuterOneHasEnded(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, store)) {
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

}
