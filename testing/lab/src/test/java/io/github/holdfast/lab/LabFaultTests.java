package io.github.holdfast.lab;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.VerdictTable.Row;
import io.github.holdfast.lab.node.OrderOutcome;
import io.github.holdfast.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a node that stands still or dies, and a Redis that forgets, do to each strategy,
 * as {@code docs/lab.md} says.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
@Tag("night")
class LabFaultTests {

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
			.flatMap((row) -> EnumSet.complementOf(EnumSet.of(Trouble.NONE))
				.stream()
				.filter((trouble) -> trouble.verdict(row) != null)
				.map((trouble) -> Arguments.of(row, trouble)));
	}

	@ParameterizedTest
	@MethodSource("troubles")
	void strategyGetsItsVerdict(Row row, Trouble trouble) {
		VerdictTable.expect(Objects.requireNonNull(trouble.verdict(row)),
				() -> this.lab.run(trouble.request(row.strategy()), trouble.fault()));
	}

	/**
	 * Either the others got past the one that stands still, which is then refused, or it
	 * kept its row of the fence locked, and they waited for it.
	 */
	@ParameterizedTest
	@EnumSource(names = { "HOLDFAST_REDISSON_FENCE", "HOLDFAST_REDIS_FENCE", "HOLDFAST_JDBC_FENCE" })
	void holderThatWasOvertakenIsRefused(StrategyType strategy) {
		Facts facts;
		int attempt = 0;
		do {
			RunView run = this.lab.run(Trouble.FROZEN.request(strategy), Trouble.FROZEN.fault());
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
			RunView run = this.lab.run(Trouble.FROZEN.request(StrategyType.HOLDFAST_JDBC), Trouble.FROZEN.fault());
			assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.RIGHT);
			ended = this.lab.orders(run.id())
				.stream()
				.filter((order) -> order.outcome() == OrderOutcome.FAILED)
				.toList();
			assertThat(ended).allMatch((order) -> order.node() == 1);
			attempt++;
		}
		while (ended.isEmpty() && attempt < ATTEMPTS);
		assertThat(ended).isNotEmpty();
	}

}
