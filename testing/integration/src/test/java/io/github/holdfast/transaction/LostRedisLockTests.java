package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Redis forgets a lock while its holder works, or cannot be reached by it.
 */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LostRedisLockTests {

	Stream<Arguments> stores() {
		return RedisStore.onOneDatabase();
	}

	@ParameterizedTest
	@MethodSource("stores")
	@Tag("F17")
	void noUpdateIsLostAtFenceByARestartWithoutData(RedisStore store, TestDatabase database) {
		try (RedisServer redis = RedisServer.start()) {
			assertNoUpdateIsLost(store, database, redis, redis::restart);
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("F17")
	void updateIsLostAtLeaseByARestartWithoutData(RedisStore store) {
		try (RedisServer redis = RedisServer.start()) {
			assertUpdateIsLost(store, redis, redis::restart);
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	@Tag("F33")
	void noUpdateIsLostAtFenceByAFlush(RedisStore store, TestDatabase database) {
		try (RedisServer redis = RedisServer.start()) {
			assertNoUpdateIsLost(store, database, redis, () -> redis.command("FLUSHALL"));
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("F33")
	void updateIsLostAtLeaseByAFlush(RedisStore store) {
		try (RedisServer redis = RedisServer.start()) {
			assertUpdateIsLost(store, redis, () -> redis.command("FLUSHALL"));
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	@Tag("F28")
	void noUpdateIsLostAtFenceByAClockThatJumpsForward(RedisStore store, TestDatabase database) {
		try (RedisServer redis = startWithMovableClock()) {
			assertNoUpdateIsLost(store, database, redis, () -> redis.moveClock(Duration.ofHours(1)));
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("F28")
	void updateIsLostAtLeaseByAClockThatJumpsForward(RedisStore store) {
		try (RedisServer redis = startWithMovableClock()) {
			assertUpdateIsLost(store, redis, () -> redis.moveClock(Duration.ofHours(1)));
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("F28")
	void tokensRiseAlthoughTheClockJumpsBack(RedisStore store) {
		try (RedisServer redis = startWithMovableClock()) {
			redis.moveClock(Duration.ofHours(2));
			TwoNodes.run(store.application(TestDatabase.H2.newDatabase(), redis.port()), CommitGuardLevel.FENCE,
					(nodes) -> {
						long before = nodes.sell();
						redis.moveClock(Duration.ZERO);
						assertThat(nodes.sell()).isGreaterThan(before);
						assertThat(nodes.quantity()).isEqualTo(98);
					});
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	@Tag("F20")
	void holderThatIsCutOffCommitsAtFenceAsNobodyElseHadTheLock(RedisStore store, TestDatabase database) {
		cutOff(store, database, CommitGuardLevel.FENCE, (stock, untilTheLeaseIsOver) -> {
			stock.take("A", untilTheLeaseIsOver);
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource
	@Tag("F20")
	void holderThatIsCutOffCannotCommitAtLease(RedisStore store) {
		cutOff(store, TestDatabase.H2, CommitGuardLevel.LEASE, (stock, untilTheLeaseIsOver) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A", untilTheLeaseIsOver));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	private static void assertNoUpdateIsLost(RedisStore store, TestDatabase database, RedisServer redis,
			Runnable loss) {
		TwoNodes.run(store.application(database.newDatabase(), redis.port()), CommitGuardLevel.FENCE, (nodes) -> {
			TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(loss);
			assertThat(sales.refusal()).isNotNull();
			assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
			assertThat(nodes.quantity()).isEqualTo(99);
			nodes.sellOneAfterTheOther(loss);
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	private static void assertUpdateIsLost(RedisStore store, RedisServer redis, Runnable loss) {
		TwoNodes.run(store.application(TestDatabase.H2.newDatabase(), redis.port()), CommitGuardLevel.LEASE,
				(nodes) -> {
					TwoNodes.Sales sales = nodes.sellAtTheSameTime(loss);
					assertThat(sales.refusal()).isNull();
					assertThat(nodes.quantity()).as("two were sold").isEqualTo(99);
				});
	}

	private static RedisServer startWithMovableClock() {
		Optional<RedisServer> server = RedisServer.startWithMovableClock();
		assumeTrue(server.isPresent(), "libfaketime is not installed");
		return server.orElseThrow();
	}

	private static void cutOff(RedisStore store, TestDatabase database, CommitGuardLevel level, CutOff test) {
		try (FaultProxy proxy = new FaultProxy(RedisServer.shared().port())) {
			store.application(database.newDatabase(), proxy.port())
				.withBean(StockService.class)
				.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.jdbc.initialize-schema=always",
						"holdfast.key-prefix=" + proxy.port(),
						// A lease that is over before the fence is installed is only
						// acquired anew
						"holdfast.lease-time=" + ((level == CommitGuardLevel.FENCE) ? "2s" : "5s"))
				.run((context) -> {
					test.run(context.getBean(StockService.class), () -> {
						LockContext lock = LockContext.current().orElseThrow();
						proxy.inject(FaultProxy.Fault.BLACKHOLE);
						await().atMost(Duration.ofSeconds(60)).until(() -> !lock.isValid());
					});
					proxy.inject(FaultProxy.Fault.NONE);
				});
		}
	}

	@FunctionalInterface
	private interface CutOff {

		void run(StockService stock, Runnable untilTheLeaseIsOver);

	}

}
