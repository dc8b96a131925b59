package io.github.holdfast.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How often is asked, and until when.
 */
class PollingTests {

	private final Polling polling = new Polling(Duration.ofMillis(1), Duration.ofMillis(2));

	private final AtomicInteger asked = new AtomicInteger();

	@Test
	void noTimeMeansOneQuestion() throws Exception {
		assertThat(this.polling.<String>until(Duration.ZERO, (deadline) -> noAnswer())).isNull();
		assertThat(this.asked).hasValue(1);
	}

	@Test
	void firstAnswerEndsTheWait() throws Exception {
		String answer = this.polling.until(Duration.ofMinutes(1),
				(deadline) -> (this.asked.incrementAndGet() == 3) ? "here" : null);
		assertThat(answer).isEqualTo("here");
		assertThat(this.asked).hasValue(3);
	}

	@Test
	void isAskedOnceMoreWhenTheTimeIsOver() throws Exception {
		List<Boolean> passed = new ArrayList<>();
		this.polling.<String>until(Duration.ofSeconds(1), (deadline) -> {
			passed.add(deadline.hasPassed());
			return null;
		});
		assertThat(passed).hasSizeGreaterThan(1).startsWith(false).endsWith(true);
	}

	@Test
	void answerToTheLastQuestionCounts() throws Exception {
		String answer = this.polling.until(Duration.ofMillis(5), (deadline) -> deadline.hasPassed() ? "late" : null);
		assertThat(answer).isEqualTo("late");
	}

	@Test
	void interruptedThreadIsNotAsked() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.polling.<String>until(Duration.ZERO, (deadline) -> noAnswer()));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.asked).hasValue(0);
	}

	@Test
	void interruptEndsTheWait() {
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.polling.<String>until(Duration.ofMinutes(1), (deadline) -> {
				Thread.currentThread().interrupt();
				return noAnswer();
			}));
		assertThat(this.asked).hasValue(1);
	}

	@Test
	void failureOfTheQuestionEndsTheWait() {
		IllegalStateException failure = new IllegalStateException("failed");
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.polling.<String>until(Duration.ofMinutes(1), (deadline) -> {
				throw failure;
			}))
			.isSameAs(failure);
	}

	private @Nullable String noAnswer() {
		this.asked.incrementAndGet();
		return null;
	}

}
