package io.github.holdfast.lab;

import java.util.EnumSet;
import java.util.Set;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.holdfast.lab.strategy.StrategyType;
import io.github.holdfast.lab.strategy.StrategyType.Peril;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a strategy withstands; it is lucky if something else happens and nothing is lost.
 */
class StrategyTypeTests {

	@ParameterizedTest
	@CsvSource({ "redis-px-lua, false, false, false", "redisson-watchdog, false, false, false",
			"holdfast-redis-lease, true, false, false", "holdfast-redis-fence, true, true, true",
			"holdfast-jdbc, true, true, true", "for-update, true, true, true" })
	void guardsUntilItsPeril(String id, boolean pause, boolean pauseAtCommit, boolean forgottenLocks) {
		StrategyType strategy = StrategyType.of(id).orElseThrow();
		assertThat(strategy.guards(2, Set.of())).isTrue();
		assertThat(strategy.guards(2, Set.of(Peril.PAUSE))).isEqualTo(pause);
		assertThat(strategy.guards(2, Set.of(Peril.PAUSE_AT_COMMIT))).isEqualTo(pauseAtCommit);
		assertThat(strategy.guards(2, Set.of(Peril.FORGOTTEN_LOCKS))).isEqualTo(forgottenLocks);
		assertThat(strategy.guards(2, EnumSet.allOf(Peril.class))).isEqualTo(pause && pauseAtCommit && forgottenLocks);
	}

	@ParameterizedTest
	@CsvSource({ "memory-overwrite, false, false", "synchronized-caller, true, false", "holdfast-off, false, false" })
	void guardsWithoutAnyPeril(String id, boolean oneNode, boolean twoNodes) {
		StrategyType strategy = StrategyType.of(id).orElseThrow();
		assertThat(strategy.guards(1, Set.of())).isEqualTo(oneNode);
		assertThat(strategy.guards(2, Set.of())).isEqualTo(twoNodes);
	}

}
