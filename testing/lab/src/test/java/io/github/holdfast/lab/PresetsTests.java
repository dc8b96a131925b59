package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each strategy has a run that can be sent as it is.
 */
class PresetsTests {

	private final JsonMapper json = new JsonMapper();

	@ParameterizedTest
	@EnumSource
	void presetCanBeRun(StrategyType strategy) {
		RunRequest preset = Presets.of(strategy);
		assertThat(preset.problems()).isEmpty();
		assertThat(preset.strategies()).containsExactly(strategy);
		assertThat(RequestReader.read(this.json.valueToTree(preset))).isEqualTo(preset);
	}

	@Test
	void addressesOfThePageAreThoseOfStrategies() throws IOException {
		assertThat(Pattern.compile("#all/([a-z-]+)")
			.matcher(Files.readString(Path.of("README.md")))
			.results()
			.map((address) -> StrategyType.of(address.group(1)))).hasSizeGreaterThan(15).allMatch(Optional::isPresent);
	}

}
