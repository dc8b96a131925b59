package io.github.holdfast.chaos;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The long run of the fault machine, which writes {@code testing/chaos/results.md}, or
 * without its controls one line for it.
 */
@Tag("chaos")
class ReliabilityTests {

	@Test
	void nothingIsFoundAtFence() throws Exception {
		long seed = Long.getLong("holdfast.chaos.seed", 1);
		int longer = Integer.getInteger("holdfast.chaos.longer", 0);
		List<String> found = Campaign.run(seed, Integer.getInteger("holdfast.chaos.rounds", 4),
				Integer.getInteger("holdfast.chaos.lanes", 2), longer,
				(longer == 0) ? Path.of("results.md") : Path.of("target", "seed-" + seed + ".part"),
				Path.of("target", "runs"));
		assertThat(found).isEmpty();
	}

}
