package io.github.holdfast.transaction;

import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.ReplicatedRedis;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis master fails before its replica knows of a lock, and the replica takes over. So
 * two nodes hold one lock at the same time.
 */
@Tag("F18")
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnreplicatedLockTests {

	Stream<Arguments> stores() {
		return RedisStore.onOneDatabase();
	}

	@ParameterizedTest
	@MethodSource("stores")
	void noUpdateIsLostAtFence(RedisStore store, TestDatabase database) {
		run(store, database, CommitGuardLevel.FENCE, (redis, nodes) -> {
			redis.cutReplication();
			TwoNodes.Sales sales = nodes.sellAtTheSameTime(redis::failOver);
			assertThat(sales.refusal()).isNotNull();
			assertThat(nodes.quantity()).isEqualTo(99);
			nodes.sell();
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@MethodSource("stores")
	void updateIsLostAtLease(RedisStore store, TestDatabase database) {
		run(store, database, CommitGuardLevel.LEASE, (redis, nodes) -> {
			redis.cutReplication();
			TwoNodes.Sales sales = nodes.sellAtTheSameTime(redis::failOver);
			assertThat(sales.refusal()).isNull();
			assertThat(nodes.quantity()).as("two were sold").isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("stores")
	void holdersMayGetTheSameEpochAtLease(RedisStore store, TestDatabase database) {
		run(store, database, CommitGuardLevel.LEASE, (redis, nodes) -> {
			nodes.countAheadOfTheClock();
			redis.cutReplication();
			TwoNodes.Sales sales = nodes.sellAtTheSameTime(redis::failOver);
			assertThat(sales.firstToken()).isEqualTo(sales.secondToken());
			assertThat(nodes.quantity()).as("two were sold").isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("stores")
	void holdersWithTheSameEpochAreToldApartAtFence(RedisStore store, TestDatabase database) {
		run(store, database, CommitGuardLevel.FENCE, (redis, nodes) -> {
			nodes.countAheadOfTheClock();
			redis.cutReplication();
			TwoNodes.Sales sales = nodes.sellAtTheSameTime(redis::failOver);
			assertThat(sales.refusal()).isNotNull();
			assertThat(sales.secondToken()).as("raised").isGreaterThan(sales.firstToken());
			assertThat(nodes.quantity()).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@MethodSource("stores")
	void epochsThatTheReplicaHasMissedAreMadeUpForAtFence(RedisStore store, TestDatabase database) {
		run(store, database, CommitGuardLevel.FENCE, (redis, nodes) -> {
			nodes.countAheadOfTheClock();
			redis.cutReplication();
			nodes.sell();
			nodes.sell();
			TwoNodes.Sales sales = nodes.sellAtTheSameTime(redis::failOver);
			assertThat(sales.refusal()).isNotNull();
			assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	private static void run(RedisStore store, TestDatabase database, CommitGuardLevel level, Failover test) {
		try (ReplicatedRedis redis = new ReplicatedRedis()) {
			TwoNodes.run(store.application(database.newDatabase(), redis.port()), level,
					(nodes) -> test.run(redis, nodes));
		}
	}

	@FunctionalInterface
	private interface Failover {

		void run(ReplicatedRedis redis, TwoNodes nodes) throws Exception;

	}

}
