package io.github.holdfast.core;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import io.github.holdfast.chaos.Hole;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The schedules of the core. If one is broken, the log in {@code target/schedules} has
 * the steps of each thread.
 */
class ScheduleTests {

	private static final int SCHEDULES = Integer.getInteger("holdfast.schedules", 200);

	private static final Path MISTAKES = Path.of("src", "test", "mistakes");

	static List<Hole> mistakes() throws IOException {
		return Hole.in(MISTAKES);
	}

	@Test
	@Tag("long")
	void schedulesAreKept() throws Exception {
		assertThat(ScheduledCore.play("right", null, SCHEDULES, List.of())).filteredOn(ScheduleTests::isKept)
			.hasSameSizeAs(Schedule.values());
	}

	private static boolean isKept(String line) {
		return line.endsWith(" kept");
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeFitsTheCore(Hole mistake, @TempDir Path directory) throws IOException {
		assertThat(mistake.dig(directory)).isNotEmpty();
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	@Tag("long")
	void mistakeIsFound(Hole mistake) throws Exception {
		assertThat(ScheduledCore.play(mistake.name(), mistake, SCHEDULES, mistake.values("schedule")))
			.anyMatch((line) -> line.contains(" BROKEN "));
	}

}
