package io.github.holdfast.chaos;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs a plan that was written down, and shrinks it if something is found.
 */
@Tag("chaos")
@EnabledIfSystemProperty(named = "holdfast.chaos.plan", matches = ".+")
class RepeatedPlanTests {

	private final int attempts = Integer.getInteger("holdfast.chaos.attempts", 3);

	@Test
	void nothingIsFound() throws Exception {
		Path file = Path.of(System.getProperty("holdfast.chaos.plan"));
		Plan plan = Plan.parse(Files.readString(file));
		Set<Violation.Kind> found = found(plan, EnumSet.allOf(Violation.Kind.class));
		if (!found.isEmpty()) {
			Path shrunk = file.resolveSibling(file.getFileName() + ".shrunk");
			// Without faults, a loss is one that would be none with them
			Files.writeString(shrunk, Shrinker.shrink(plan, (fewer) -> !found(fewer, found).isEmpty()).toString());
			System.out.println("What is left of the plan: " + shrunk);
		}
		assertThat(found).describedAs("Found with %s", file).isEmpty();
	}

	private Set<Violation.Kind> found(Plan plan, Set<Violation.Kind> wanted) throws Exception {
		Set<Violation.Kind> found = EnumSet.noneOf(Violation.Kind.class);
		for (int i = 0; i < this.attempts && found.isEmpty(); i++) {
			Run run = Run.of(plan);
			run.violations().stream().map(Violation::kind).filter(wanted::contains).forEach(found::add);
			System.out.println(run);
		}
		return found;
	}

}
