package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README is short, and its translations say the same.
 */
class ReadmeTests {

	private static final Pattern HEADING = Pattern.compile("^#+ ", Pattern.MULTILINE);

	private static final Pattern ROW = Pattern.compile("^\\|.*\\|$", Pattern.MULTILINE);

	private static final Pattern NAME = Pattern.compile("`[^`\\n]+`");

	private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

	private static final Pattern TRANSLATION = Pattern.compile("README\\.[\\w-]+\\.md|README\\.md");

	private static final Pattern PICTURE = Pattern.compile("(docs/images/lab)(\\.[\\w-]+)?\\.webp");

	private static Documentation.Page readme(String name) throws IOException {
		return new Documentation.Page(Documentation.ROOT.resolve(name),
				Files.readString(Documentation.ROOT.resolve(name)));
	}

	@Test
	void hasAtMostNineHundredWords() throws IOException {
		assertThat(List.of(readme("README.md").prose().trim().split("\\s+"))).hasSizeBetween(300, 900);
	}

	@ParameterizedTest
	@ValueSource(strings = { "README.zh-CN.md", "README.ja.md", "README.ru.md", "README.ko.md" })
	void translationCorresponds(String translation) throws IOException {
		Documentation.Page english = readme("README.md");
		Documentation.Page translated = readme(translation);
		assertThat(translated.blocks()).extracting(Documentation.Block::text)
			.isEqualTo(english.blocks().stream().map(Documentation.Block::text).toList());
		assertThat(found(HEADING, translated.prose())).isEqualTo(found(HEADING, english.prose()));
		assertThat(rows(translated)).isEqualTo(rows(english));
		assertThat(links(translated)).isEqualTo(links(english));
		assertThat(found(NAME, translated.prose())).containsExactlyInAnyOrderElementsOf(found(NAME, english.prose()));
	}

	@Test
	void translationsLeadToEachOther() throws IOException {
		for (String name : List.of("README.md", "README.zh-CN.md", "README.ja.md", "README.ru.md", "README.ko.md")) {
			String second = readme(name).text().lines().skip(2).findFirst().orElseThrow();
			assertThat(found(TRANSLATION, second)).hasSize(4).doesNotContain(name);
		}
	}

	/**
	 * How many cells each row of each table has.
	 */
	private static List<Integer> rows(Documentation.Page page) {
		return found(ROW, page.prose()).stream().map((row) -> row.split("\\|").length).toList();
	}

	/**
	 * Where it leads, apart from other languages. The picture of the lab is in the
	 * language of the page.
	 */
	private static List<String> links(Documentation.Page page) {
		return LINK.matcher(page.prose())
			.results()
			.map((link) -> link.group(1))
			.filter((link) -> !TRANSLATION.matcher(link).matches())
			.map((link) -> PICTURE.matcher(link).replaceFirst("$1.webp"))
			.toList();
	}

	private static List<String> found(Pattern pattern, String text) {
		return pattern.matcher(text).results().map(MatchResult::group).toList();
	}

}
