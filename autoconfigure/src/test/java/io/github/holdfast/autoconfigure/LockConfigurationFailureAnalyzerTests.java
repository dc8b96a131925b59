package io.github.holdfast.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;

import io.github.holdfast.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/** Mistakes are told as description and action, however deep they are wrapped. */
class LockConfigurationFailureAnalyzerTests {

	private final FailureAnalyzer analyzer = new LockConfigurationFailureAnalyzer();

	@Test
	void analyzerIsRegistered() {
		assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, (type, name, failure) -> {
			})).hasAtLeastOneElementOfType(LockConfigurationFailureAnalyzer.class);
	}

	@Test
	void descriptionAndActionAreThoseOfTheMistake() {
		LockConfigurationException mistake = new LockConfigurationException("This was found.", "Do that.");
		FailureAnalysis analysis = this.analyzer.analyze(new IllegalStateException("outer", mistake));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).isEqualTo("This was found.");
		assertThat(analysis.getAction()).isEqualTo("Do that.");
		assertThat(analysis.getCause()).isSameAs(mistake);
	}

	@Test
	void otherFailureIsLeftToOtherAnalyzers() {
		assertThat(this.analyzer.analyze(new IllegalStateException("other"))).isNull();
	}

}
