package io.github.holdfast.chaos;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Looks for a hole that was put into the library, see {@code chaos/holes}. The file of
 * the hole says on what to run: lines of {@code run: backend database isolation weather}.
 */
@Tag("chaos")
@EnabledIfSystemProperty(named = "holdfast.chaos.hole", matches = ".+")
class HoleTests {

	private static final Duration RUN_TIME = Duration.ofSeconds(15);

	private final int attempts = Integer.getInteger("holdfast.chaos.attempts", 8);

	@Test
	void isFound() throws Exception {
		Path file = Path.of(System.getProperty("holdfast.chaos.hole"));
		List<String> runs = Files.readString(file)
			.lines()
			.filter((line) -> line.startsWith("run: "))
			.map((line) -> line.substring("run: ".length()))
			.toList();
		String answer = "not found after " + RUN_TIME.multipliedBy(this.attempts).toSeconds() + " s";
		boolean found = false;
		for (int i = 0; i < this.attempts && !found; i++) {
			Run run = run(runs.get(i % runs.size()), i + 1);
			found = !run.violations().isEmpty();
			if (found) {
				answer = "%d s | %s, %s | %s".formatted(RUN_TIME.multipliedBy(i + 1L).toSeconds(),
						run.history().plan().target(), run.history().plan().weather(),
						run.violations().get(0).kindName());
			}
		}
		Files.writeString(Path.of("target", "holes"), file.getFileName() + " | " + answer + "\n",
				StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		assertThat(found).describedAs(answer).isTrue();
	}

	private static Run run(String text, long seed) throws Exception {
		int end = text.lastIndexOf(' ');
		Target target = Target.parse(text.substring(0, end) + " fence");
		Run run = Run.of(PlanSource.plan(seed, target, Names.parse(Weather.class, text.substring(end + 1)), RUN_TIME));
		System.out.println(run);
		run.violations().stream().limit(3).forEach(System.out::println);
		run.write(Path.of("target", "runs"));
		return run;
	}

}
