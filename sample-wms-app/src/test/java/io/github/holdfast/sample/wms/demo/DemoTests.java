package io.github.holdfast.sample.wms.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.holdfast.testsupport.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The demo prints what the README shows, except how much was sold too often.
 */
@Timeout(900)
@Tag("long")
class DemoTests {

	private static final String WITHOUT = "without locks: ";

	/** A busy machine starts its nodes slowly. */
	private static final Duration PATIENCE = Duration.ofMinutes(5);

	@Test
	void printsWhatTheReadmeShows() throws Exception {
		List<String> readme = Files.readAllLines(Path.of("..", "README.md"));
		int first = readme.indexOf("60 orders at once for 20 pieces");
		List<String> shown = readme.subList(first, first + 3);
		assertThat(confirmed(shown.get(1).substring(WITHOUT.length()))).isGreaterThan(20);
		try (ChildJvm demo = ChildJvm.start(Demo.class)) {
			demo.await(shown.get(0), PATIENCE);
			assertThat(confirmed(demo.await(WITHOUT, PATIENCE))).isGreaterThan(20);
			assertThat(demo.await(shown.get(2), PATIENCE)).isEmpty();
		}
	}

	private static int confirmed(String answers) {
		return Integer.parseInt(answers.substring(0, answers.indexOf(" x 200")));
	}

}
