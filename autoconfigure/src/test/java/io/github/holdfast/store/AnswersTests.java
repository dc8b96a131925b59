package io.github.holdfast.store;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long a renewal is waited for.
 */
class AnswersTests {

	private static final Duration MINIMUM = Duration.ofSeconds(3);

	@Test
	void renewalMayTakeAThirdOfItsLeaseWithinBounds() {
		assertThat(Answers.renewalTimeout(Duration.ofSeconds(3), MINIMUM)).isEqualTo(MINIMUM);
		assertThat(Answers.renewalTimeout(Duration.ofSeconds(15), MINIMUM)).hasSeconds(5);
		assertThat(Answers.renewalTimeout(Duration.ofHours(1), MINIMUM)).as("minimum hold time").hasSeconds(10);
	}

}
