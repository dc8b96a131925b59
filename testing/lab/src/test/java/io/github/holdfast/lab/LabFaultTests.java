package io.github.holdfast.lab;

import java.io.IOException;
import java.util.EnumSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import io.github.holdfast.lab.VerdictTable.Row;

/**
 * What a node that stands still or dies, and a Redis that forgets, do to each strategy,
 * as {@code README.md} shows.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
@Tag("night")
class LabFaultTests {

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
				.filter((trouble) -> trouble.verdict(row).isPresent())
				.map((trouble) -> Arguments.of(row, trouble)));
	}

	@ParameterizedTest
	@MethodSource("troubles")
	void strategyGetsItsVerdict(Row row, Trouble trouble) {
		VerdictTable.expect(trouble.verdict(row).orElseThrow(), () -> this.lab.run(trouble.run(row.strategy())));
	}

}
