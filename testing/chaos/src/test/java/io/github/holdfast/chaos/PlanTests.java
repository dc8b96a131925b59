package io.github.holdfast.chaos;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class PlanTests {

	@ParameterizedTest
	@EnumSource
	void oneSeedGivesOnePlan(Backend backend) {
		assertThat(plan(7, backend, Level.FENCE)).isEqualTo(plan(7, backend, Level.FENCE))
			.isNotEqualTo(plan(8, backend, Level.FENCE));
	}

	@ParameterizedTest
	@EnumSource
	void planIsReadAsItWasWritten(Backend backend) {
		Plan plan = plan(7, backend, Level.FENCE);
		assertThat(Plan.parse(plan.toString())).isEqualTo(plan);
	}

	@ParameterizedTest
	@EnumSource
	void controlMeetsTheSameEvents(Level level) {
		assertThat(plan(7, Backend.REDIS, Level.FENCE).at(level)).isEqualTo(plan(7, Backend.REDIS, level));
	}

	private static Plan plan(long seed, Backend backend, Level level) {
		return PlanSource.plan(seed, new Target(backend, Database.MARIADB, Isolation.READ_COMMITTED, level),
				Weather.STORM, Duration.ofSeconds(10));
	}

}
