package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

import io.github.holdfast.testsupport.DatabaseAccess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Redis forgets a lock while its holder works, or cannot be reached by it. */
@Timeout(180)
class LostRedisLockTests {

	@ParameterizedTest
	@CsvSource({ "RESTART, REDIS, MARIADB", "RESTART, REDISSON, POSTGRESQL", "FLUSH, REDIS, POSTGRESQL",
			"FLUSH, REDISSON, H2", "CLOCK, REDIS, H2", "CLOCK, REDISSON, MARIADB" })
	void noUpdateIsLostAtFence(Loss loss, RedisStore store, TestDatabase database) {
		try (RedisServer redis = loss.start()) {
			TwoNodes.run(store.application(database.newDatabase(), redis.port()), CommitGuardLevel.FENCE, (nodes) -> {
				TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(() -> loss.of(redis));
				assertThat(sales.refusal()).isNotNull();
				assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
				assertThat(nodes.quantity()).isEqualTo(99);
				nodes.sellOneAfterTheOther(() -> loss.of(redis));
				assertThat(nodes.quantity()).isEqualTo(97);
			});
		}
	}

	/** Red if each driver has rows of its own. */
	@Test
	void noUpdateIsLostBetweenTheTwoDrivers() {
		DatabaseAccess database = TestDatabase.POSTGRESQL.newDatabase();
		try (RedisServer redis = RedisServer.start()) {
			TwoNodes.run(RedisStore.REDIS.application(database, redis.port()),
					RedisStore.REDISSON.application(database, redis.port()), CommitGuardLevel.FENCE, (nodes) -> {
						TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(() -> Loss.FLUSH.of(redis));
						assertThat(sales.refusal()).isNotNull();
						assertThat(nodes.quantity()).isEqualTo(99);
						nodes.sellOneAfterTheOther(() -> Loss.FLUSH.of(redis));
						assertThat(nodes.quantity()).isEqualTo(97);
					});
		}
	}

	/** However long ago the lock was lost, the store has not failed. */
	@ParameterizedTest
	@EnumSource
	void holderWhoWasSupersededLongAgoHasLostItsLock(RedisStore store) {
		store.application(TestDatabase.H2.newDatabase(), RedisServer.shared().port())
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.key-prefix=" + store + UUID.randomUUID())
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				stock.take("A", () -> {
				});
				context.getBean(JdbcTemplate.class).update("UPDATE holdfast_lock SET epoch = epoch + 60000000");
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A", () -> {
				}));
				assertThat(stock.quantity("A")).isEqualTo(99);
			});
	}

	/** One of three nodes was down at the grant; another one forgets its data. */
	@ParameterizedTest
	@EnumSource
	void noUpdateIsLostAtFenceByASecondMajority(TestDatabase database) {
		try (RedisQuorum quorum = new RedisQuorum()) {
			TwoNodes.run(
					RedisStore.REDIS.application(database.newDatabase(), 1)
						.withPropertyValues("holdfast.redis.quorum.nodes=" + String.join(",", quorum.nodes())),
					CommitGuardLevel.FENCE, (nodes) -> {
						quorum.server(2).kill();
						TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(() -> {
							quorum.server(1).restart();
							quorum.server(2).restart();
						});
						assertThat(sales.refusal()).isNotNull();
						assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
						assertThat(nodes.quantity()).isEqualTo(99);
					});
		}
	}

	@ParameterizedTest
	@CsvSource({ "RESTART, REDISSON", "FLUSH, REDIS", "CLOCK, REDIS" })
	void updateIsLostAtLease(Loss loss, RedisStore store) {
		try (RedisServer redis = loss.start()) {
			TwoNodes.run(store.application(TestDatabase.H2.newDatabase(), redis.port()), CommitGuardLevel.LEASE,
					(nodes) -> {
						TwoNodes.Sales sales = nodes.sellAtTheSameTime(() -> loss.of(redis));
						assertThat(sales.refusal()).isNull();
						assertThat(nodes.quantity()).as("two were sold").isEqualTo(99);
					});
		}
	}

	@ParameterizedTest
	@EnumSource
	void tokensRiseAlthoughTheClockJumpsBack(RedisStore store) {
		try (RedisServer redis = Loss.CLOCK.start()) {
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
	@EnumSource
	void holderWhoseLockWasReleasedByForceCannotCommit(TestDatabase database) {
		RedisStore.REDIS.application(database.newDatabase(), RedisServer.shared().port())
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=fence")
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> stock.withoutTransaction("A", () -> {
						assertThat(context.getBean(LockManager.class).forceRelease("holdfast:stock:A")).isTrue();
						context.getBean(TransactionTemplate.class)
							.executeWithoutResult((status) -> stock.write("A", 0));
					}));
				assertThat(stock.quantity("A")).isEqualTo(100);
			});
	}

	@ParameterizedTest
	@CsvSource({ "REDIS, MARIADB", "REDISSON, POSTGRESQL" })
	void holderThatIsCutOffCommitsAtFenceAsNobodyElseHadTheLock(RedisStore store, TestDatabase database) {
		cutOff(store, database, CommitGuardLevel.FENCE, (stock, untilTheLeaseIsOver) -> {
			stock.take("A", untilTheLeaseIsOver);
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(names = "REDIS")
	void holderThatIsCutOffCannotCommitAtLease(RedisStore store) {
		cutOff(store, TestDatabase.H2, CommitGuardLevel.LEASE, (stock, untilTheLeaseIsOver) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A", untilTheLeaseIsOver));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
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

	/** Why Redis does not know of a lock any more. */
	enum Loss {

		RESTART(RedisServer::restart), FLUSH((redis) -> redis.command("FLUSHALL")),
		CLOCK((redis) -> redis.moveClock(Duration.ofHours(1)));

		private final Consumer<RedisServer> loss;

		Loss(Consumer<RedisServer> loss) {
			this.loss = loss;
		}

		RedisServer start() {
			if (this != CLOCK) {
				return RedisServer.start();
			}
			Optional<RedisServer> server = RedisServer.startWithMovableClock();
			assumeTrue(server.isPresent(), "libfaketime is not installed");
			return server.orElseThrow();
		}

		void of(RedisServer redis) {
			this.loss.accept(redis);
		}

	}

}
