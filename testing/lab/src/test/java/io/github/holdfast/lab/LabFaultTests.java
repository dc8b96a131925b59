package io.github.holdfast.lab;

import java.io.IOException;
import java.util.EnumSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.lab.VerdictTable.Row;

/**
 * What a node that stands still or dies, and a Redis that forgets, do to each strategy,
 * as {@code README.md} shows.
 */
@Tag("night")
class LabFaultTests extends RunningLab {

	/** Troubles of one strategy follow each other, as they need the same nodes. */
	static Stream<Arguments> troubles() throws IOException {
		return VerdictTable.rows()
			.stream()
			.flatMap((row) -> EnumSet.complementOf(EnumSet.of(Trouble.NONE))
				.stream()
				.filter((trouble) -> trouble.verdict(row).isPresent())
				.map((trouble) -> Arguments.of(row, trouble)));
	}

	@ParameterizedTest
	@MethodSource("troubles")
	void strategyGetsItsVerdict(Row row, Trouble trouble) {
		VerdictTable.expect(trouble.verdict(row).orElseThrow(), () -> this.lab.run(trouble.run(row.strategy())));
	}

}
