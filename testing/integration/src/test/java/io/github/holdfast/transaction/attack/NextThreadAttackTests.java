package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** The next thread of a node reads before the work of the last one is committed. */
@Timeout(180)
class NextThreadAttackTests {

	/** Attack 15. Red if a lock is given away before the outcome of a COMMIT is known. */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsBeforeACommitWhoseAnswerWasLost(Database database) {
		loseAnswerToCommit(database, Wire.WireConfiguration.class);
	}

	/** Attack 15, by JPA, which says that such a transaction was rolled back. */
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
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void nextThreadReadsBeforeAnInnerCommitWhoseAnswerWasLost(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Wire.WireConfiguration.class, Wire.NAMED,
				"holdfast.lease-time=5s", "holdfast.handover-limit=1h")) {
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

	private static void loseAnswerToCommit(Database database, Class<?> configuration) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, configuration, Wire.NAMED, "holdfast.handover-limit=1h")) {
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

	/** Attack 15, without another thread: the body reads before that COMMIT arrives. */
	@ParameterizedTest
	@EnumSource
	void bodyWritesAgainAfterACommitWhoseAnswerWasLost(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Wire.WireConfiguration.class, Wire.NAMED)) {
			Wire wire = nodes.first.context().getBean(Wire.class);
			assertThatThrownBy(() -> briefly(nodes).run("stock", () -> {
				assertThatThrownBy(() -> nodes.first.transaction().executeWithoutResult((status) -> {
					nodes.first.sell();
					wire.delayNext("COMMIT"::equals);
				})).isNotNull();
				int before = nodes.first.count();
				wire.deliver();
				nodes.first.transaction().executeWithoutResult((status) -> nodes.first.insertAfter(before));
			})).isInstanceOf(IllegalStateException.class).hasMessageContaining("got no answer");
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/**
	 * Attack 15. Red if a scope that is closed inside of its transaction ends at once. A
	 * claim keeps leases of {@code jdbc} from being handed over, but not others.
	 */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsWhileTheTransactionIsStillOpen(Database database) {
		closeInTransaction(database, (nodes, scope, next) -> {
			scope.close();
			next.mayRead();
			return CompletableFuture.completedFuture(null);
		});
	}

	/** Attack 15. Red if a thread hands a lock over that another thread has acquired. */
	@ParameterizedTest
	@EnumSource
	void nextThreadReadsWhileTheThreadOfTheHolderStillWorks(Database database) {
		closeInTransaction(database, (nodes, scope, next) -> {
			CompletableFuture<Void> closing = Nodes.async(scope::close);
			nodes.awaitBlockedOr(next::hasRead);
			return closing;
		});
	}

	private static void closeInTransaction(Database database, Closing closing) {
		for (Object[] parts : new Object[][] { { Nodes.ALONE, "holdfast.handover-limit=1h" },
				{ Nodes.ALONE, new ForgetfulStore(), "holdfast.handover-limit=1h" } }) {
			try (Nodes nodes = new Nodes(database, parts)) {
				Next next = new Next(nodes);
				LockTemplate.Scope scope = nodes.first.locks().acquire("stock");
				next.start(nodes.first.locks());
				nodes.first.transaction().execute((status) -> {
					nodes.first.sell();
					return closing.close(nodes, scope, next);
				}).join();
				next.call.get().join();
				assertThat(nodes.sales()).containsExactly(1, 2);
			}
		}
	}

	private interface Closing {

		CompletableFuture<Void> close(Nodes nodes, LockTemplate.Scope scope, Next next);

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Wire.WireConfiguration.class, JpaAttackTests.Jpa.class })
	static class WiredJpa {

	}

	private static LockTemplate briefly(Nodes nodes) {
		return nodes.first.locks().withLeaseTime(Duration.ofSeconds(2));
	}

	/** The next thread of the same node, that waits for the lock, reads, and sells. */
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

		/** Gives it the time to do what it must not do. */
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
