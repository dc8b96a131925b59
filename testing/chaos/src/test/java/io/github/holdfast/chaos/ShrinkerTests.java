package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ShrinkerTests {

	private static final Plan PLAN = PlanSource.plan(1,
			new Target(Backend.REDIS, Database.MARIADB, Isolation.READ_COMMITTED, Level.FENCE), Weather.STORM,
			Duration.ofSeconds(10));

	@Test
	void whatIsNeededIsLeft() throws Exception {
		List<Fault> faults = List.of(PLAN.faults().get(3), PLAN.faults().get(PLAN.faults().size() - 2));
		List<Plan.Program> programs = List.of(PLAN.programs().get(0), PLAN.programs().get(5));
		List<Plan> tried = new ArrayList<>();
		Plan shrunk = Shrinker.shrink(PLAN, (plan) -> {
			tried.add(plan);
			return plan.faults().containsAll(faults) && plan.programs().containsAll(programs);
		});
		assertThat(shrunk.faults()).isEqualTo(faults);
		assertThat(shrunk.programs()).isEqualTo(programs);
		assertThat(tried).hasSizeLessThan(PLAN.faults().size());
	}

	@Test
	void planThatFailsWithoutFaultsHasNone() throws Exception {
		assertThat(Shrinker.shrink(PLAN, (plan) -> !plan.programs().isEmpty()).faults()).isEmpty();
	}

}
