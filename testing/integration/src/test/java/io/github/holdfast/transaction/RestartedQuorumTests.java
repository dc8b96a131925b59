package io.github.holdfast.transaction;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One node of three is down when a lock is taken on the others; one of those is restarted
 * without its data. Then a second majority is free.
 */
@Timeout(180)
class RestartedQuorumTests {

	@ParameterizedTest
	@EnumSource
	void noUpdateIsLostAtFence(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (nodes, loss) -> {
			TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(loss);
			assertThat(sales.refusal()).isNotNull();
			assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
			assertThat(nodes.quantity()).isEqualTo(99);
		});
	}

	/**
	 * The second holder waits for the row.
	 */
	@ParameterizedTest
	@EnumSource
	void secondHolderWaitsForTheTransactionOfTheFirst(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (nodes, loss) -> {
			nodes.sellOneAfterTheOther(loss);
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void updateIsLostAtLease(TestDatabase database) {
		run(database, CommitGuardLevel.LEASE, (nodes, loss) -> {
			TwoNodes.Sales sales = nodes.sellAtTheSameTime(loss);
			assertThat(sales.refusal()).isNull();
			assertThat(nodes.quantity()).as("two were sold").isEqualTo(99);
		});
	}

	private static void run(TestDatabase database, CommitGuardLevel level, Result test) {
		try (RedisQuorum quorum = new RedisQuorum()) {
			ApplicationContextRunner node = RedisStore.REDIS.application(database.newDatabase(), 1)
				.withPropertyValues("holdfast.redis.quorum.nodes=" + String.join(",", quorum.nodes()));
			TwoNodes.run(node, level, (nodes) -> {
				quorum.server(2).kill();
				test.check(nodes, () -> {
					quorum.server(1).restart();
					quorum.server(2).restart();
				});
			});
		}
	}

	@FunctionalInterface
	private interface Result {

		void check(TwoNodes nodes, Runnable loss);

	}

}
