package io.github.holdfast.chaos;

import java.nio.file.Files;
import java.nio.file.Path;

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
		boolean fails = fails(plan);
		if (fails) {
			Path shrunk = file.resolveSibling(file.getFileName() + ".shrunk");
			Files.writeString(shrunk, Shrinker.shrink(plan, this::fails).toString());
			System.out.println("What is left of the plan: " + shrunk);
		}
		assertThat(fails).describedAs("Something is found with %s", file).isFalse();
	}

	private boolean fails(Plan plan) throws Exception {
		boolean fails = false;
		for (int i = 0; i < this.attempts && !fails; i++) {
			Run run = Run.of(plan);
			fails = !run.violations().isEmpty();
			System.out.println(run);
		}
		return fails;
	}

}
