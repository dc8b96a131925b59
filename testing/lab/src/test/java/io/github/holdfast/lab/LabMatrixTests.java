package io.github.holdfast.lab;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.VerdictTable.Row;
import io.github.holdfast.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each strategy gets the verdicts that {@code README.md} shows, alone or among all. What
 * faults do is in {@link LabFaultTests}.
 */
class LabMatrixTests extends RunningLab {

	@Test
	void pageNamesAllStrategies() throws IOException {
		assertThat(VerdictTable.rows()).extracting(Row::strategy).containsExactlyInAnyOrder(StrategyType.values());
	}

	/** Those that need the same nodes follow each other. */
	static Stream<Arguments> runs() throws IOException {
		List<Row> rows = VerdictTable.rows();
		return Stream.of(1, 2).flatMap((nodes) -> rows.stream().map((row) -> Arguments.of(row, nodes)));
	}

	@ParameterizedTest
	@MethodSource("runs")
	void strategyGetsItsVerdict(Row row, int nodes) {
		VerdictTable.expect(row.verdicts().get(nodes - 1).orElseThrow(),
				() -> this.lab.run(Trouble.sale(row.strategy(), nodes)));
	}

	/**
	 * All that have one, but for those that need no more than the orders of
	 * {@link #strategyGetsItsVerdict}.
	 */
	static Stream<StrategyType> weak() {
		return Stream.of(StrategyType.values())
			.filter((type) -> !Presets.breaks(type).equals("ORDERS") && !type.id().endsWith("-fence")
					&& type != StrategyType.HOLDFAST_JDBC);
	}

	@ParameterizedTest
	@MethodSource("weak")
	void presetShowsTheWeakness(StrategyType strategy) {
		String preset = new JsonMapper().writeValueAsString(Presets.of(strategy));
		assertThat(Stream.generate(() -> this.lab.run(preset).verdict().code()).limit(5))
			.anyMatch((code) -> code != Verdict.Code.RIGHT);
	}

	@Test
	void allStrategiesAreComparedInOneRun() {
		Run.View run = this.lab.run("""
				{"strategy": "all", "stock": 20, "orders": 40, "concurrency": 5, "nodes": 2}""");
		assertThat(run.state()).isEqualTo(Run.State.FINISHED);
		assertThat(run.verdict()).isNull();
		assertThat(run.results()).extracting(Run.Result::strategy)
			.containsExactlyInAnyOrder(Stream.of(StrategyType.values()).map(StrategyType::id).toArray(String[]::new));
		assertThat(run.results()).allSatisfy((result) -> assertThat(result.facts().answered()).isEqualTo(40));
		assertThat(run.results()).filteredOn((result) -> result.strategy().endsWith("-fence"))
			.hasSize(1)
			.allSatisfy((result) -> assertThat(result.verdict().code()).isEqualTo(Verdict.Code.RIGHT));
		assertThat(this.lab.orders(run.id())).hasSize(40 * StrategyType.values().length);
		assertThat(this.lab.get("/runs/" + run.id() + "/orders?strategy=insert-lock"))
			.contains("\"strategy\":\"insert-lock\"")
			.doesNotContain("\"strategy\":\"for-update\"");
	}

}
