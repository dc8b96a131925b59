package io.github.holdfast.lab.page;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.holdfast.lab.strategy.StrategyType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page says the same in all its languages.
 */
class LabLanguageTests {

	private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\w+}");

	/** A key that is written as it is, not made of parts. */
	private static final Pattern KEY = Pattern.compile("(?:\\bt\\('|data-t=\")([\\w.-]+)['\"]");

	/** What is called the same everywhere. */
	private static final Pattern NAMES = Pattern.compile("group.holdfast|fact.p99Ms|unit.ms|strategy.for-update.title"
			+ "|strategy.holdfast-redis-(fence|lease).title");

	static List<String> translations() {
		return Languages.CODES.subList(1, Languages.CODES.size());
	}

	@ParameterizedTest
	@MethodSource("translations")
	void keysAreThoseOfEnglish(String language) throws IOException {
		assertThat(Languages.texts(language).keySet()).isEqualTo(Languages.texts("en").keySet());
	}

	@ParameterizedTest
	@MethodSource("translations")
	void placeholdersAreThoseOfEnglish(String language) throws IOException {
		Map<String, String> translated = Languages.texts(language);
		assertThat(Languages.texts("en")).allSatisfy((key,
				text) -> assertThat(placeholders(translated.getOrDefault(key, ""))).isEqualTo(placeholders(text)));
	}

	@ParameterizedTest
	@MethodSource("translations")
	void everythingIsTranslated(String language) throws IOException {
		Map<String, String> english = Languages.texts("en");
		Map<String, String> translated = Languages.texts(language);
		assertThat(translated.values()).noneMatch(String::isBlank);
		assertThat(translated.keySet()).filteredOn((key) -> translated.get(key).equals(english.get(key)))
			.filteredOn((key) -> !NAMES.matcher(key).matches())
			.isEmpty();
	}

	@Test
	void strategiesAreDescribed() throws IOException {
		assertThat(Languages.texts("en").keySet()).containsAll(Stream.of(StrategyType.values())
			.map(StrategyType::id)
			.flatMap((id) -> Stream.of("title", "explanation", "weakness").map((part) -> "strategy." + id + "." + part))
			.toList());
	}

	@Test
	void keysThatThePageUsesAreThere() throws IOException {
		Set<String> used = new TreeSet<>();
		try (Stream<Path> files = Files.walk(Languages.PAGE)) {
			for (Path file : files.filter((path) -> path.toString().matches(".*\\.(js|html)")).toList()) {
				used.addAll(KEY.matcher(Files.readString(file)).results().map((key) -> key.group(1)).toList());
			}
		}
		assertThat(used).hasSizeGreaterThan(40);
		assertThat(Languages.texts("en").keySet()).containsAll(used);
	}

	private static Set<String> placeholders(String text) {
		return PLACEHOLDER.matcher(text).results().map(MatchResult::group).collect(Collectors.toSet());
	}

}
