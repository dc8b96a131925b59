package io.github.holdfast.chaos;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The long run of the fault machine, which writes {@code target/runs/report.md}.
 */
@Tag("chaos")
class ReliabilityTests {

	@Test
	void nothingIsFoundAtFence() throws Exception {
		assertThat(Campaign.run(Long.getLong("holdfast.chaos.seed", 1), Integer.getInteger("holdfast.chaos.rounds", 4),
				Integer.getInteger("holdfast.chaos.lanes", 2),
				Duration.ofSeconds(Long.getLong("holdfast.chaos.seconds", 60)), Path.of("target", "runs")))
			.isEmpty();
	}

}
