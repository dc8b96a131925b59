package io.github.holdfast.store.redis;

import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What services are strict about that read scripts before they run them, as Tair's
 * Cluster edition does: names of commands and keys are spelled out.
 */
class LockScriptTests {

	/** The limit of a call. */
	private static final int MOST_LOCKS = 1000;

	private static final Pattern CALL = Pattern.compile("redis\\s*\\.\\s*p?call\\s*\\(([^,)]*)(,\\s*([^,)]*))?");

	private static final Set<String> WITHOUT_KEY = Set.of("'time'", "'publish'");

	private static final Pattern LITERAL_KEY = Pattern.compile("KEYS\\[([1-9][0-9]*)]");

	@ParameterizedTest
	@EnumSource
	void keysAndCommandsAreSpelledOut(LockScript script) {
		assertThat(texts(script)).allSatisfy((lua) -> {
			assertThat(CALL.matcher(lua).results()).isNotEmpty().allSatisfy((call) -> {
				assertThat(call.group(1)).matches("'[a-z]+'");
				if (!WITHOUT_KEY.contains(call.group(1))) {
					assertThat(call.group(3)).as(call.group()).matches(LITERAL_KEY);
				}
			});
			assertThat(lua.replaceAll(LITERAL_KEY.pattern(), "")).doesNotContain("KEYS");
			assertThat(lua.replaceAll(CALL.pattern(), "")).doesNotContain("redis");
		});
	}

	@Test
	void onlyKeysThatAreGivenAreUsedWithFewLocks() {
		assertThat(IntStream.rangeClosed(1, 8))
			.allSatisfy((locks) -> assertThat(numbers(LockScript.ACQUIRE.text(2 * locks).lua()))
				.isEqualTo(IntStream.rangeClosed(1, 2 * locks).boxed().toList()));
	}

	/**
	 * Redis keeps each of them until it is restarted.
	 */
	@Test
	void scriptsAreFewForAnyNumberOfLocks() {
		assertThat(texts(LockScript.ACQUIRE).distinct()).hasSize(8 + 7);
		assertThat(IntStream.rangeClosed(1, MOST_LOCKS))
			.allSatisfy((locks) -> assertThat(numbers(LockScript.ACQUIRE.text(2 * locks).lua())).contains(2 * locks));
	}

	@Test
	void untoldScriptsPublishNothing() {
		assertThat(LockScript.values()).filteredOn((script) -> script.text(2).lua().contains("publish"))
			.isNotEmpty()
			.allSatisfy((script) -> assertThat(script.untold().text(2).lua()).doesNotContain("publish"));
	}

	private static List<Integer> numbers(String lua) {
		return LITERAL_KEY.matcher(lua)
			.results()
			.map((MatchResult key) -> Integer.valueOf(key.group(1)))
			.distinct()
			.sorted()
			.toList();
	}

	private static Stream<String> texts(LockScript script) {
		return IntStream.rangeClosed(1, MOST_LOCKS).mapToObj((locks) -> script.text(2 * locks).lua()).distinct();
	}

}
