package io.github.holdfast.store.redis;

import java.util.Set;
import java.util.regex.Pattern;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Some services read scripts before, and need commands and keys spelled out. */
class LockScriptTests {

	private static final Pattern CALL = Pattern.compile("redis\\s*\\.\\s*p?call\\s*\\(([^,)]*)(,\\s*([^,)]*))?");

	private static final Set<String> WITHOUT_KEY = Set.of("'time'", "'publish'");

	@ParameterizedTest
	@EnumSource
	void keysAndCommandsAreSpelledOut(LockScript script) {
		assertThat(CALL.matcher(script.lua()).results()).isNotEmpty().allSatisfy((call) -> {
			assertThat(call.group(1)).matches("'[a-z]+'");
			if (!WITHOUT_KEY.contains(call.group(1))) {
				assertThat(call.group(3)).as(call.group()).matches("KEYS\\[[1-6]]");
			}
		});
		assertThat(script.lua().replaceAll("KEYS\\[[1-6]]", "")).doesNotContain("KEYS");
		assertThat(script.lua().replaceAll(CALL.pattern(), "")).doesNotContain("redis.");
	}

}
