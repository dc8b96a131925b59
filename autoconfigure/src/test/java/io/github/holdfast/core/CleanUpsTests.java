package io.github.holdfast.core;

import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CleanUps}.
 */
class CleanUpsTests {

	private static final long SHORT = 100_000;

	private static final long LONG = 400_000;

	private final CleanUps cleanUps = new CleanUps();

	@Test
	void areNotLongUntilTheFirstOneWas() {
		assertThat(this.cleanUps.areLong()).isFalse();
		this.cleanUps.took(LONG);
		assertThat(this.cleanUps.areLong()).isTrue();
	}

	@Test
	void fewOfTheOtherKindDoNotCount() {
		took(100, LONG);
		took(15, SHORT);
		assertThat(this.cleanUps.areLong()).isTrue();
		took(100, SHORT);
		took(15, LONG);
		assertThat(this.cleanUps.areLong()).isFalse();
	}

	@Test
	void changeWithTheDatabase() {
		took(1000, SHORT);
		took(33, LONG);
		assertThat(this.cleanUps.areLong()).isTrue();
		took(16, SHORT);
		assertThat(this.cleanUps.areLong()).isFalse();
	}

	private void took(int times, long nanos) {
		IntStream.range(0, times).forEach((i) -> this.cleanUps.took(nanos));
	}

}
