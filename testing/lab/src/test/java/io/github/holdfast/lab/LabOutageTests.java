package io.github.holdfast.lab;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Objects;
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
 * What a node that dies, and a Redis that forgets, do to each strategy, as
 * {@code docs/lab.md} says.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
class LabOutageTests {

	@LocalServerPort
	private int port;

	private LabClient lab;

	@BeforeEach
	void setUp() {
		this.lab = new LabClient(this.port);
	}

	static Stream<Arguments> troubles() throws IOException {
		return Trouble.runs(EnumSet.of(Trouble.KILLED, Trouble.REDIS_RESTARTED, Trouble.REPLICA_PROMOTED));
	}

	@ParameterizedTest
	@MethodSource("troubles")
	void strategyGetsItsVerdict(Row row, Trouble trouble) {
		VerdictTable.expect(Objects.requireNonNull(trouble.verdict(row)),
				() -> this.lab.run(trouble.request(row.strategy()), trouble.fault()));
	}

}
