package io.github.holdfast.autoconfigure;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.local.LocalLockBackend;
import io.github.holdfast.support.QueueLimits;
import io.github.holdfast.testsupport.WaitingCall;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

/**
 * A node during a change of its backend, or of the prefix of its keys.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class LockMigrationTests {

	private final TwoStores stores = new TwoStores();

	private final ApplicationContextRunner application = this.stores.application();

	private final ApplicationContextRunner changing = this.application.withPropertyValues("holdfast.backend=jdbc",
			"holdfast.migration.also-lock=redis");

	@AfterAll
	void stop() {
		this.stores.close();
	}

	@BeforeEach
	void reset() {
		this.stores.reset();
	}

	@ParameterizedTest
	@CsvSource({ "jdbc, redis", "redis, jdbc" })
	void locksAreTakenInBothPlacesAndGivenBack(String backend, String also, CapturedOutput output) {
		this.application.withPropertyValues("holdfast.backend=" + backend, "holdfast.migration.also-lock=" + also)
			.run((context) -> {
				context.getBean(LockTemplate.class)
					.run("A", () -> assertThat(this.stores.holders()).containsExactly(1L, 1L));
				assertThat(this.stores.holders()).containsExactly(0L, 0L);
				assertThat(context.getBean(LockBackend.class).name()).isEqualTo(backend);
			});
		assertThat(output).contains("The locks of the default backend are taken in the backend '" + also + "'");
	}

	/**
	 * The other node is one step behind or ahead, and takes the lock in that place only.
	 */
	@ParameterizedTest
	@CsvSource({ "jdbc, jdbc", "jdbc, redis", "redis, jdbc", "redis, redis" })
	void lossInEitherPlaceRefusesTheCommit(String backend, String lost) {
		String also = backend.equals("jdbc") ? "redis" : "jdbc";
		ApplicationContextRunner both = this.application.withPropertyValues("holdfast.backend=" + backend,
				"holdfast.migration.also-lock=" + also);
		ApplicationContextRunner single = this.application.withPropertyValues("holdfast.backend=" + lost);
		both.run((node) -> single.run((other) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> sell(node, () -> {
				takeAway(lost);
				assertThat(TwoStores.elsewhere(() -> sell(other, () -> {
				}))).isNull();
			}));
			assertThat(this.stores.available()).isEqualTo(99);
			sell(node, () -> {
			});
			assertThat(this.stores.available()).isEqualTo(98);
		}));
	}

	private static void sell(ApplicationContext node, Runnable meanwhile) {
		node.getBean(LockTemplate.class).run("A", () -> TwoStores.sell(node, meanwhile));
	}

	private void takeAway(String place) {
		if (place.equals("redis")) {
			this.stores.takeAwayInRedis();
		}
		else {
			this.stores.takeAwayInTheTable();
		}
	}

	@Test
	void bothAreHandedOverTogether() {
		this.changing.withPropertyValues("holdfast.wait-time=30s", "holdfast.handover.max-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			AtomicReference<CompletableFuture<Long>> next = new AtomicReference<>();
			long first = locks.execute("A", () -> {
				next.set(WaitingCall.start(() -> locks.execute("A", () -> {
					assertThat(this.stores.holders()).containsExactly(1L, 1L);
					return LockContext.current().orElseThrow().token();
				})));
				return LockContext.current().orElseThrow().token();
			});
			assertThat(next.get().get(30, TimeUnit.SECONDS)).as("the next turn of one lease").isEqualTo(first + 1);
		});
	}

	@Test
	void holderIsEvictedInBothPlaces() {
		this.changing.run((node) -> {
			LockBackend backend = node.getBean(LockBackend.class);
			assertThat(backend.probe("lock:A")).isNotNull();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> sell(node, () -> {
				LockHolder holder = Objects.requireNonNull(backend.holder("lock:A"));
				assertThat(assertDoesNotThrow(() -> backend.evict("lock:A", holder.owner(), holder.epoch())))
					.isEqualTo(LockBackend.Eviction.EVICTED);
				assertThat(this.stores.holders()).containsExactly(0L, 0L);
			}));
			assertThat(this.stores.available()).isEqualTo(100);
		});
	}

	@Test
	void keysOfBothPrefixesAreTaken() {
		this.application.withPropertyValues("holdfast.backend=redis", "holdfast.migration.also-key-prefix=app:")
			.run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
				assertThat(this.stores.redis().command("EXISTS", "{lock:A}")).isEqualTo(1L);
				assertThat(this.stores.redis().command("EXISTS", "{app:A}")).isEqualTo(1L);
				context.getBean(LockTemplate.class)
					.withKeyPrefix("other:")
					.run("A", () -> assertThat(this.stores.redis().command("EXISTS", "{other:A}")).isEqualTo(1L));
			}));
	}

	@Test
	void optimisticLocksFailTheStart() {
		assertFailure(this.changing.withBean(Optimistic.class), "asks for [OPTIMISTIC]", "during 'holdfast.migration'");
	}

	@Test
	void samePlaceFailsTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backend=redis", "holdfast.migration.also-lock=redis"),
				"'holdfast.migration' names the place in which all locks are anyway.",
				"'holdfast.migration.also-key-prefix'");
	}

	@ParameterizedTest
	@CsvSource({ "local, jdbc", "jdbc, local" })
	void locksOfThisJvmFailTheStart(String backend, String also) {
		assertFailure(
				this.application.withPropertyValues("holdfast.backend=" + backend,
						"holdfast.migration.also-lock=" + also),
				"cannot keep locks of this JVM together with others", "Stop all nodes");
	}

	@Test
	void ownBackendFailsTheStart() {
		assertFailure(this.changing.withBean(LockBackend.class, () -> new LocalLockBackend(QueueLimits.DEFAULT)),
				"'holdfast.migration' has no effect", "LockBackend bean");
	}

	@Test
	void unknownBackendFailsTheStart() {
		assertFailure(this.changing.withPropertyValues("holdfast.migration.also-lock=rediss"),
				"'holdfast.migration.also-lock' is 'rediss', but there is no such backend.");
	}

	static class Optimistic {

		@DistributedLock(key = "'A'", mode = LockRequest.Mode.OPTIMISTIC)
		public void count() {
		}

	}

}
