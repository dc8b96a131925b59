package io.github.holdfast.chaos;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The smoke set of the fault machine: with the same plan, nothing is found at
 * {@code fence}, and something without locks.
 */
class FaultMachineTests {

	private static final Plan PLAN = PlanSource.plan(Long.getLong("holdfast.chaos.seed", 1),
			new Target(Backend.REDIS, TestDatabase.MARIADB, Isolation.REPEATABLE_READ, Level.FENCE), Weather.STORM,
			Duration.ofSeconds(6));

	@Test
	void nothingIsFoundAtFence() throws Exception {
		Run run = Run.of(PLAN);
		assertThat(run.history().faults()).isNotEmpty();
		assertThat(run.history().sales()).isNotEmpty();
		assertThat(run.violations()).describedAs("%s\n%s", run, PLAN).isEmpty();
	}

	@Test
	void updatesAreLostWithoutLocks() throws Exception {
		assertThat(Run.of(PLAN.at(Level.NONE)).violations()).extracting(Violation::kind)
			.contains(Violation.Kind.LOST_UPDATE);
	}

}
