package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/** The page says the same in all its languages. */
class LabLanguageTests {

	private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\w+}");

	/** A key that is written as it is, not made of parts. */
	private static final Pattern KEY = Pattern.compile("(?:\\bt\\('|data-t=\")([\\w.-]+)['\"]");

	/** What is called the same everywhere. */
	private static final Pattern NAMES = Pattern.compile("group.holdfast|fact.p99Ms|unit.ms|strategy.for-update.title"
			+ "|strategy.holdfast-redis-(fence|lease).title");

	@Test
	void everythingIsTranslated() {
		Map<String, String> english = texts("en");
		Map<String, String> translated = texts("zh");
		assertThat(translated.keySet()).isEqualTo(english.keySet());
		assertThat(english)
			.allSatisfy((key, text) -> assertThat(placeholders(translated.get(key))).isEqualTo(placeholders(text)));
		assertThat(translated.values()).noneMatch(String::isBlank);
		assertThat(translated.keySet()).filteredOn((key) -> translated.get(key).equals(english.get(key)))
			.filteredOn((key) -> !NAMES.matcher(key).matches())
			.isEmpty();
	}

	@Test
	void keysThatThePageUsesAreThere() throws IOException {
		Set<String> used = new TreeSet<>();
		try (Stream<Path> files = Files.walk(Rungs.PAGE)) {
			for (Path file : files.filter((path) -> path.toString().matches(".*\\.(js|html)")).toList()) {
				used.addAll(KEY.matcher(Files.readString(file)).results().map((key) -> key.group(1)).toList());
			}
		}
		assertThat(used).hasSizeGreaterThan(40);
		for (String part : List.of("title", "explanation", "weakness")) {
			Stream.of(StrategyType.values()).forEach((each) -> used.add("strategy." + each.id() + "." + part));
		}
		assertThat(texts("en").keySet()).containsAll(used);
	}

	private static Map<String, String> texts(String code) {
		return new JsonMapper().readValue(Rungs.PAGE.resolve("languages").resolve(code + ".json"),
				new TypeReference<TreeMap<String, String>>() {
				});
	}

	private static Set<String> placeholders(String text) {
		return PLACEHOLDER.matcher(text).results().map(MatchResult::group).collect(Collectors.toSet());
	}

}
