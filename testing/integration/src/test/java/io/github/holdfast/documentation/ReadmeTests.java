package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README and the pages stay short, and the Chinese README has the same quick start.
 */
class ReadmeTests {

	private static final int MOST_WORDS = 15_000;

	private static final Pattern LINK = Pattern.compile("\\]\\((docs/[^)\\s]+)\\)");

	private static Documentation.Page readme(String name) throws IOException {
		return new Documentation.Page(Documentation.ROOT.resolve(name),
				Files.readString(Documentation.ROOT.resolve(name)));
	}

	private static int words(String text) {
		return text.trim().split("\\s+").length;
	}

	@Test
	void hasAtMostNineHundredWords() throws IOException {
		assertThat(words(readme("README.md").prose())).isBetween(300, 900);
	}

	@Test
	void fifteenPagesStayWithinTheirBudget() throws IOException {
		Map<String, Integer> pages = Documentation.pages()
			.stream()
			.filter((page) -> page.toString().matches("docs/[\\w-]+\\.md"))
			.collect(Collectors.toMap(Documentation.Page::toString, (page) -> words(page.text())));
		assertThat(pages).hasSize(15);
		assertThat(pages.values().stream().mapToInt(Integer::intValue).sum()).isLessThanOrEqualTo(MOST_WORDS);
	}

	@Test
	void chineseQuickStartHasTheSameCode() throws IOException {
		List<String> english = code("README.md");
		assertThat(code("README.zh-CN.md")).hasSizeGreaterThan(4).isSubsetOf(english);
	}

	private static List<String> code(String name) throws IOException {
		return readme(name).blocks().stream().map(Documentation.Block::text).toList();
	}

	@Test
	void readmeLinksToTwelvePages() throws IOException {
		String prose = readme("README.md").prose();
		List<String> links = LINK.matcher(prose.substring(prose.indexOf("## Documentation")))
			.results()
			.map((MatchResult link) -> link.group(1))
			.toList();
		assertThat(links).hasSize(12).doesNotHaveDuplicates();
	}

}
