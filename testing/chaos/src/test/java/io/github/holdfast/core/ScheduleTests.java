package io.github.holdfast.core;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.github.holdfast.chaos.Hole;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The schedules of the core. If a scene is broken, {@code target/schedules} has the log
 * with the steps, and a recording.
 */
class ScheduleTests {

	private static final int SCHEDULES = Integer.getInteger("holdfast.schedules", 1000);

	private static final Path MISTAKES = Path.of("src", "test", "mistakes");

	static List<Hole> mistakes() throws IOException {
		return Hole.in(MISTAKES);
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeFitsTheCore(Hole mistake, @TempDir Path directory) throws IOException {
		assertThat(mistake.dig(directory)).isNotEmpty();
	}

	@Test
	@Tag("long")
	void scenesAreKept() throws Exception {
		assumeThat(ScheduledCore.jdk()).as("a JDK 25").isNotNull();
		List<String> scenes = Stream.of(Scene.values()).map(Scene::name).toList();
		assertThat(ScheduledCore.play(null, SCHEDULES, scenes)).hasSameSizeAs(scenes)
			.allMatch((line) -> line.contains(" kept after "));
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	@Tag("long")
	void mistakeIsFound(Hole mistake) throws Exception {
		assumeThat(ScheduledCore.jdk()).as("a JDK 25").isNotNull();
		assertThat(ScheduledCore.play(mistake, SCHEDULES, mistake.values("scene")))
			.anyMatch((line) -> line.contains(" BROKEN "));
	}

}
