package io.github.holdfast.chaos;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A minute: nothing is found at {@code fence}, and lost updates without locks. */
class FaultMachineTests {

	private static final long SEED = Long.getLong("holdfast.chaos.seed", 1);

	@ParameterizedTest
	@CsvSource({ "JDBC, POSTGRESQL, STORM", "JDBC, CONNECTOR_J, SERVERS", "REDIS, MARIADB, STORM",
			"JDBC_LEASE, H2, PROCESSES" })
	void nothingIsFound(Backend backend, Database database, Weather weather) throws Exception {
		Plan plan = plan(backend, database, weather);
		Run run = Run.of(plan);
		System.out.println(run);
		assertThat(run.history().faults()).isNotEmpty();
		assertThat(run.history().sales()).isNotEmpty();
		assertThat(run.violations()).describedAs("%s\n%s", run, plan).isEmpty();
	}

	@Test
	void updatesAreLostWithoutLocks() throws Exception {
		Plan plan = plan(Backend.JDBC, Database.POSTGRESQL, Weather.CALM);
		assertThat(Run.of(plan.at(Level.NONE)).violations()).extracting(Violation::kind)
			.contains(Violation.Kind.LOST_UPDATE);
	}

	private static Plan plan(Backend backend, Database database, Weather weather) {
		return PlanSource.plan(SEED, new Target(backend, database, Isolation.READ_COMMITTED, Level.FENCE), weather,
				Duration.ofSeconds(6));
	}

}
