package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The smoke set of the fault machine: with the same plan, nothing is found at
 * {@code fence}, and something without locks.
 */
class FaultMachineTests {

	private static final int MAX_RUNS = 10;

	private static final long SEED = Long.getLong("holdfast.chaos.seed", 1);

	/**
	 * Transactions that lock the rows of their locks themselves.
	 */
	private static final Plan ROWS = rows(TestDatabase.POSTGRESQL);

	private static final Plan CLAIMS = PlanSource.plan(SEED,
			new Target(Backend.REDIS, TestDatabase.MARIADB, Isolation.REPEATABLE_READ, Level.FENCE), Weather.STORM,
			Duration.ofSeconds(6));

	private static Plan rows(TestDatabase database) {
		return PlanSource.plan(SEED, new Target(Backend.JDBC, database, Isolation.READ_COMMITTED, Level.FENCE),
				Weather.STORM, Duration.ofSeconds(5));
	}

	@Test
	void nothingIsFound() throws Exception {
		assertNothingIsFound(ROWS);
	}

	@Test
	void updatesAreLostWithoutLocks() throws Exception {
		assertUpdatesAreLostWithoutLocks(ROWS);
	}

	@Test
	@Tag("long")
	void nothingIsFoundWithClaims() throws Exception {
		assertNothingIsFound(CLAIMS);
	}

	@Test
	@Tag("long")
	void updatesAreLostWithoutClaims() throws Exception {
		assertUpdatesAreLostWithoutLocks(CLAIMS);
	}

	@Test
	@Tag("long")
	void nothingIsFoundOnMariaDb() throws Exception {
		assertNothingIsFound(rows(TestDatabase.MARIADB));
	}

	/**
	 * The pool of the first seed commits no statements by itself, that of the second one
	 * does.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2 })
	@Tag("long")
	void nothingIsFoundWithTwoManagersOnOneConnection(long seed) throws Exception {
		List<Step.Kind> kinds = List.of(Step.Kind.BORROWED_LOOK, Step.Kind.BORROWED_SALE, Step.Kind.BORROWED_REFUSAL);
		Plan plan = PlanSource.plan(seed,
				new Target(Backend.REDIS, TestDatabase.POSTGRESQL, Isolation.READ_COMMITTED, Level.FENCE),
				Weather.SERVERS, Duration.ofSeconds(4), kinds);
		assertThat(plan.autoCommit()).isEqualTo(seed == 2);
		assertNothingIsFoundWithResultsOf(kinds, plan);
	}

	@ParameterizedTest
	@EnumSource(names = { "JDBC", "REDIS" })
	@Tag("long")
	void nothingIsFoundWithTenantsStepsAndLateSales(Backend backend) throws Exception {
		List<Step.Kind> kinds = List.of(Step.Kind.TENANT, Step.Kind.BATCH_STEP, Step.Kind.LATE_SALE);
		Plan plan = PlanSource.plan(SEED,
				new Target(backend, TestDatabase.POSTGRESQL, Isolation.READ_COMMITTED, Level.FENCE), Weather.SERVERS,
				Duration.ofSeconds(5), kinds);
		assertNothingIsFoundWithResultsOf(kinds, plan);
	}

	private static void assertNothingIsFound(Plan plan) throws Exception {
		Run run = Run.of(plan);
		assertThat(run.history().faults()).isNotEmpty();
		assertThat(run.history().sales()).isNotEmpty();
		assertThat(run.violations()).describedAs("%s\n%s", run, plan).isEmpty();
	}

	/**
	 * Runs a plan until each of the kinds has had a result. On a busy machine, some kind
	 * may have none in the few seconds of one run.
	 */
	private static void assertNothingIsFoundWithResultsOf(List<Step.Kind> kinds, Plan plan) throws Exception {
		Set<Step.Kind> without = EnumSet.copyOf(kinds);
		for (int i = 0; i < MAX_RUNS && !without.isEmpty(); i++) {
			Run run = Run.of(plan);
			assertThat(run.violations()).describedAs("%s\n%s", run, plan).isEmpty();
			run.history()
				.calls()
				.stream()
				.filter((call) -> call.ending() == Ending.RESULT)
				.map(Call::kind)
				.forEach(without::remove);
		}
		assertThat(without).describedAs("Kinds of steps without a result").isEmpty();
	}

	private static void assertUpdatesAreLostWithoutLocks(Plan plan) throws Exception {
		assertThat(Run.of(plan.at(Level.NONE)).violations()).extracting(Violation::kind)
			.contains(Violation.Kind.LOST_UPDATE);
	}

}
