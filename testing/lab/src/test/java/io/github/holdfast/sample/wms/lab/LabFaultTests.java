package io.github.holdfast.sample.wms.lab;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import io.github.holdfast.sample.wms.lab.Verdict.Code;
import io.github.holdfast.sample.wms.lab.VerdictTable.Row;
import io.github.holdfast.sample.wms.lab.node.OrderOutcome;
import io.github.holdfast.sample.wms.lab.strategy.Group;
import io.github.holdfast.sample.wms.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a node that stands still or dies, and a Redis that forgets, do to each strategy,
 * as {@code docs/lab.md} says.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
class LabFaultTests {

	private static final String FREEZE = """
			{"kind": "FREEZE", "node": 1, "millis": 3000}""";

	private static final String FREEZE_AT_COMMIT = """
			{"kind": "FREEZE", "node": 1, "millis": 3000, "moment": "COMMIT"}""";

	private static final String FREEZE_AT_RELEASE = """
			{"kind": "FREEZE", "node": 1, "millis": 3000, "moment": "RELEASE"}""";

	private static final String KILL = """
			{"kind": "KILL", "node": 1, "millis": 100}""";

	private static final String RESTART_REDIS = """
			{"kind": "RESTART_REDIS", "millis": 0}""";

	/** When it takes over, all locks that it knows have expired. */
	private static final String PROMOTE_REPLICA = """
			{"kind": "PROMOTE_REPLICA", "millis": 2000}""";

	private static final int ATTEMPTS = 10;

	@LocalServerPort
	private int port;

	private LabClient lab;

	@BeforeEach
	void setUp() {
		this.lab = new LabClient(this.port);
	}

	/**
	 * All that is done to one strategy follows each other, as it needs the same nodes.
	 */
	static Stream<Arguments> troubles() throws IOException {
		return VerdictTable.rows()
			.stream()
			.flatMap((row) -> Arrays.stream(Trouble.values())
				.filter((trouble) -> trouble.verdict.apply(row) != null)
				.map((trouble) -> Arguments.of(row, trouble)));
	}

	@ParameterizedTest
	@MethodSource("troubles")
	void strategyGetsItsVerdict(Row row, Trouble trouble) {
		VerdictTable.expect(Objects.requireNonNull(trouble.verdict.apply(row)),
				() -> this.lab.run(trouble.request(row.strategy()), trouble.fault));
	}

	/**
	 * Either the others got past the one that stands still, which is then refused, or it
	 * kept its row of the fence locked, and they waited for it.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "holdfast-redisson-fence", "holdfast-redis-fence", "holdfast-jdbc-fence" })
	void holderThatWasOvertakenIsRefused(String strategy) {
		Facts facts;
		int attempt = 0;
		do {
			RunView run = this.lab.run(request(strategy, 80, 30), FREEZE);
			facts = Objects.requireNonNull(run.facts());
			assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.RIGHT);
			List<OrderView> refused = this.lab.orders(run.id())
				.stream()
				.filter((order) -> order.outcome() == OrderOutcome.LOST)
				.toList();
			assertThat(refused).hasSize(facts.lost())
				.allSatisfy((order) -> assertThat(order.message()).contains("was lost before the commit"));
			assertThat(refused).extracting(OrderView::node).allMatch((node) -> node == 1);
			attempt++;
		}
		while (facts.lost() == 0 && attempt < ATTEMPTS);
		assertThat(facts.lost()).isPositive();
	}

	/**
	 * The lock is a row that the transaction has locked, so the others end its session.
	 */
	@Test
	void holderThatKeepsItsRowLockedIsEnded() {
		List<OrderView> ended;
		int attempt = 0;
		do {
			RunView run = this.lab.run(request("holdfast-jdbc", 80, 30), FREEZE);
			assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.RIGHT);
			ended = this.lab.orders(run.id())
				.stream()
				.filter((order) -> order.outcome() == OrderOutcome.FAILED)
				.toList();
			assertThat(ended).extracting(OrderView::node).allMatch((node) -> node == 1);
			attempt++;
		}
		while (ended.isEmpty() && attempt < ATTEMPTS);
		assertThat(ended).isNotEmpty();
	}

	private static String request(String strategy, int orders, int workMs) {
		return """
				{"strategy": "%s", "stock": 1000, "orders": %d, "concurrency": 8, "nodes": 2, "workMs": %d}"""
			.formatted(strategy, orders, workMs);
	}

	private static String longerThanRedisIsAway(StrategyType strategy) {
		boolean renewed = strategy.group() == Group.HOLDFAST;
		return request(strategy.id(), renewed ? 30 : 16, renewed ? 400 : 1000);
	}

	private static String oneAfterTheOther(StrategyType strategy) {
		return """
				{"strategy": "%s", "stock": 20, "orders": 50, "concurrency": 20, "ratePerSecond": 10, "workMs": 1000}"""
			.formatted(strategy.id());
	}

	/**
	 * What is done to a node, or to Redis.
	 */
	enum Trouble {

		/** The holder stands still while an order works. */
		FROZEN(Row::frozen, FREEZE),

		/** The holder stands still at its commit. */
		FROZEN_AT_COMMIT(Row::frozenAtCommit, FREEZE_AT_COMMIT),

		/** The holder stands still when it gives its lock back. */
		FROZEN_AT_RELEASE(Row::frozenAtRelease, FREEZE_AT_RELEASE),

		/** The holder is killed. */
		KILLED(Row::killed, KILL) {

			@Override
			String request(StrategyType strategy) {
				return LabFaultTests.request(strategy.id(), 40, 30);
			}

		},

		/**
		 * The store forgets. Orders take longer than Redis needs to come back; with
		 * Holdfast, so short that no renewal finds out in time. Where nobody waits, they
		 * come one after the other, so that some are on their way and some are still to
		 * come.
		 */
		REDIS_RESTARTED(Row::redisRestarted, RESTART_REDIS) {

			@Override
			String request(StrategyType strategy) {
				return (strategy == StrategyType.REDIS_STOCK) ? oneAfterTheOther(strategy)
						: longerThanRedisIsAway(strategy);
			}

		},

		/** The store that takes over has not heard of the last locks. */
		REPLICA_PROMOTED(Row::replicaPromoted, PROMOTE_REPLICA) {

			@Override
			String request(StrategyType strategy) {
				return longerThanRedisIsAway(strategy);
			}

		};

		private final Function<Row, @Nullable Code> verdict;

		private final String fault;

		Trouble(Function<Row, @Nullable Code> verdict, String fault) {
			this.verdict = verdict;
			this.fault = fault;
		}

		String request(StrategyType strategy) {
			return LabFaultTests.request(strategy.id(), 80, 30);
		}

	}

}
