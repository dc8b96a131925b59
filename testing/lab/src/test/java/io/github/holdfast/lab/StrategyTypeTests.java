package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.strategy.StrategyType;
import io.github.holdfast.lab.strategy.StrategyType.Peril;

import static org.assertj.core.api.Assertions.assertThat;

/** What a strategy withstands, and the run that shows what it does not. */
class StrategyTypeTests {

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

	@ParameterizedTest
	@CsvSource({ "redis-px-lua, true, true, false, false, false", "redisson-watchdog, true, true, false, false, false",
			"holdfast-redis-lease, true, true, true, false, false",
			"holdfast-redis-fence, true, true, true, true, true", "holdfast-jdbc, true, true, true, true, true",
			"for-update, true, true, true, true, true", "memory-overwrite, false, false, false, false, false",
			"holdfast-off, false, false, false, false, false",
			"synchronized-caller, true, false, false, false, false" })
	void guardsUntilItsPeril(String id, boolean oneNode, boolean twoNodes, boolean pause, boolean pauseAtCommit,
			boolean forgottenLocks) {
		StrategyType strategy = StrategyType.of(id).orElseThrow();
		assertThat(strategy.guards(1, Set.of())).isEqualTo(oneNode);
		assertThat(strategy.guards(2, Set.of())).isEqualTo(twoNodes);
		assertThat(strategy.guards(2, Set.of(Peril.PAUSE))).isEqualTo(pause);
		assertThat(strategy.guards(2, Set.of(Peril.PAUSE_AT_COMMIT))).isEqualTo(pauseAtCommit);
		assertThat(strategy.guards(2, Set.of(Peril.FORGOTTEN_LOCKS))).isEqualTo(forgottenLocks);
		assertThat(strategy.guards(2, EnumSet.allOf(Peril.class))).isEqualTo(pause && pauseAtCommit && forgottenLocks);
	}

}
