package io.github.holdfast.chaos;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The long run of the fault machine, which writes {@code testing/chaos/results.md}.
 */
@Tag("chaos")
class ReliabilityTests {

	@Test
	void nothingIsFoundAtFence() throws Exception {
		List<String> found = Campaign.run(Long.getLong("holdfast.chaos.seed", 1),
				Integer.getInteger("holdfast.chaos.rounds", 4), Integer.getInteger("holdfast.chaos.lanes", 2),
				Path.of("results.md"), Path.of("target", "runs"));
		assertThat(found).isEmpty();
	}

}
