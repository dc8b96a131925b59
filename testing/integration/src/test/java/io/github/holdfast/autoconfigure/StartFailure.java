package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;

import static org.assertj.core.api.Assertions.assertThat;

/** What Spring Boot prints when an application with locks does not start. */
public final class StartFailure {

	private StartFailure() {
	}

	/** The description and the action. */
	public static String printed(@Nullable Throwable failure) {
		assertThat(failure).isNotNull();
		FailureAnalysis analysis = new LockConfigurationFailureAnalyzer().analyze(failure);
		assertThat(analysis).as(() -> "Analysis of " + failure).isNotNull();
		return analysis.getDescription() + "\n" + analysis.getAction();
	}

}
