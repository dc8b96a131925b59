package io.github.holdfast.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The run without faults, whose figures go into {@code testing/chaos/results.md}.
 */
@Tag("chaos")
class SoakTests {

	@Test
	void nothingIsFoundAndNothingGrows() throws Exception {
		List<String> found = Soak.run(Long.getLong("holdfast.chaos.seed", 1),
				Duration.ofMinutes(Long.getLong("holdfast.chaos.minutes", 30)),
				!Boolean.getBoolean("holdfast.chaos.rest"), Path.of("results"));
		assertThat(found).isEmpty();
	}

}
