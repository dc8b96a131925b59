package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.List;

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

	/**
	 * The pool of the first seed commits no statements by itself, that of the second one
	 * does.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2 })
	@Tag("long")
	void nothingIsFoundWithTwoManagersOnOneConnection(long seed) throws Exception {
		Plan plan = PlanSource.plan(seed,
				new Target(Backend.REDIS, TestDatabase.POSTGRESQL, Isolation.READ_COMMITTED, Level.FENCE),
				Weather.SERVERS, Duration.ofSeconds(4),
				List.of(Step.Kind.BORROWED_LOOK, Step.Kind.BORROWED_SALE, Step.Kind.BORROWED_REFUSAL));
		assertThat(plan.autoCommit()).isEqualTo(seed == 2);
		Run run = Run.of(plan);
		assertThat(run.history().calls()).filteredOn((call) -> call.ending() == Ending.RESULT)
			.extracting(Call::kind)
			.contains(Step.Kind.BORROWED_LOOK, Step.Kind.BORROWED_SALE, Step.Kind.BORROWED_REFUSAL);
		assertThat(run.violations()).describedAs("%s\n%s", run, plan).isEmpty();
	}

	/**
	 * Transactions that lock the rows of their locks themselves.
	 */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void nothingIsFoundWithTransactionsThatLockTheirRows(TestDatabase database) throws Exception {
		lockRowsInTransactions(database);
	}

	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	@Tag("long")
	void nothingIsFoundWithTransactionsThatLockTheirRowsOnMariaDb(TestDatabase database) throws Exception {
		lockRowsInTransactions(database);
	}

	private static void lockRowsInTransactions(TestDatabase database) throws Exception {
		Plan plan = PlanSource.plan(Long.getLong("holdfast.chaos.seed", 1),
				new Target(Backend.JDBC, database, Isolation.READ_COMMITTED, Level.FENCE), Weather.STORM,
				Duration.ofSeconds(5));
		Run run = Run.of(plan);
		assertThat(run.history().sales()).isNotEmpty();
		assertThat(run.violations()).describedAs("%s\n%s", run, plan).isEmpty();
	}

	@Test
	void updatesAreLostWithoutLocks() throws Exception {
		assertThat(Run.of(PLAN.at(Level.NONE)).violations()).extracting(Violation::kind)
			.contains(Violation.Kind.LOST_UPDATE);
	}

}
