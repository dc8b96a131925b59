package io.github.holdfast.store;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Moments on the monotonic clock.
 */
class DeadlineTests {

	@Test
	void deadlineOfNoTimeHasPassed() {
		Deadline deadline = Deadline.after(Duration.ZERO);
		assertThat(deadline.hasPassed()).isTrue();
		assertThat(deadline.remaining()).isZero();
	}

	@Test
	void deadlineInTheFutureHasNotPassed() {
		Deadline deadline = Deadline.after(Duration.ofHours(1));
		assertThat(deadline.hasPassed()).isFalse();
		assertThat(deadline.remaining()).isPositive().isLessThanOrEqualTo(Duration.ofHours(1));
	}

	@Test
	void remainingTimeShrinksAndNeverGetsNegative() {
		Deadline deadline = Deadline.after(Duration.ofMillis(5));
		await().until(deadline::hasPassed);
		assertThat(deadline.remainingNanos()).isZero();
	}

	@Test
	void leaseEndsEarlierThanTheStoreSaysByAHundredth() {
		assertThat(Deadline.ofLease(Duration.ofSeconds(100)).remaining()).isLessThanOrEqualTo(Duration.ofSeconds(99));
	}

	@Test
	void longestDurationDoesNotOverflow() {
		assertThat(Deadline.after(ChronoUnit.FOREVER.getDuration()).hasPassed()).isFalse();
		assertThat(Deadline.ofLease(ChronoUnit.FOREVER.getDuration()).hasPassed()).isFalse();
	}

}
