package io.github.holdfast.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pages are short, contain none of the patterns in {@code prose.txt}, and link to
 * what exists. The Chinese README has the same quick start.
 */
class PagesTests {

	private static final int MOST_WORDS = 15_000;

	private static final Pattern DOCS = Pattern.compile("\\]\\((docs/[^)\\s]+)\\)");

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
		List<String> links = DOCS.matcher(prose.substring(prose.indexOf("## Documentation")))
			.results()
			.map((MatchResult link) -> link.group(1))
			.toList();
		assertThat(links).hasSize(12).doesNotHaveDuplicates();
	}

	private static final Pattern PAGE = Pattern
		.compile("((sample-wms-app/)?README|CONTRIBUTING|SECURITY|CHANGELOG)\\.md|docs/.*\\.md");

	static List<Documentation.Page> pagesOfProse() throws IOException {
		return Documentation.pages().stream().filter((page) -> PAGE.matcher(page.toString()).matches()).toList();
	}

	private static Stream<String[]> patterns() {
		try {
			return new ClassPathResource("prose.txt").getContentAsString(StandardCharsets.UTF_8)
				.lines()
				.filter((line) -> line.contains("\t"))
				.map((line) -> line.split("\t"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Test
	void pagesAreFound() throws IOException {
		assertThat(pagesOfProse()).hasSizeGreaterThan(18);
		assertThat(patterns()).hasSizeGreaterThan(15);
	}

	@ParameterizedTest
	@MethodSource("pagesOfProse")
	void pageHasNoPattern(Documentation.Page page) {
		List<String> sentences = sentences(page.prose());
		assertThat(patterns().flatMap((pattern) -> sentences.stream()
			.filter(Pattern.compile(pattern[1], Pattern.CASE_INSENSITIVE).asPredicate())
			.map((sentence) -> pattern[0] + ": " + sentence))).isEmpty();
	}

	private static List<String> sentences(String prose) {
		String text = prose.replaceAll("`[^`\\n]*`", "CODE")
			.replaceAll("\\]\\([^)]*\\)", "]")
			.replaceAll("(?m)^#.*$", "")
			.replaceAll("(?<=[^\\n|])\\n(?=[^\\n|#>*-])", " ");
		return Stream.of(text.split("\\n|\\||(?<=[.!?]) +(?=[A-Z\\[*])")).filter((line) -> !line.isBlank()).toList();
	}

	private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

	private static final Pattern HEADING = Pattern.compile("^#+ +(.*)$", Pattern.MULTILINE);

	static List<Documentation.Page> pages() throws IOException {
		return Documentation.pages();
	}

	@Test
	void linksAreFound() throws IOException {
		assertThat(pages()).flatExtracting(PagesTests::links).hasSizeGreaterThan(100);
	}

	@ParameterizedTest
	@MethodSource("pages")
	void linksLeadSomewhere(Documentation.Page page) {
		assertThat(links(page)).allSatisfy((link) -> {
			int anchor = link.indexOf('#');
			String path = (anchor >= 0) ? link.substring(0, anchor) : link;
			Path target = path.isEmpty() ? page.file() : page.file().resolveSibling(path).normalize();
			assertThat(target).exists();
			if (anchor >= 0 && target.toString().endsWith(".md")) {
				assertThat(anchors(Files.readString(target))).contains(link.substring(anchor + 1));
			}
		});
	}

	@Test
	void pagesCanBeReachedFromTheReadme() throws IOException {
		Set<Path> reached = new TreeSet<>();
		List<Path> open = new ArrayList<>(List.of(Documentation.ROOT.resolve("README.md")));
		Map<Path, Documentation.Page> pages = new HashMap<>();
		pages().forEach((page) -> pages.put(page.file(), page));
		while (!open.isEmpty()) {
			Documentation.Page page = pages.get(open.remove(0));
			if (page != null && reached.add(page.file())) {
				links(page).stream()
					.map((link) -> page.file().resolveSibling(link.replaceFirst("#.*", "")).normalize())
					.forEach(open::add);
			}
		}
		assertThat(reached).containsAll(pages.keySet());
	}

	private static List<String> links(Documentation.Page page) {
		return LINK.matcher(page.prose())
			.results()
			.map((link) -> link.group(1))
			.filter((link) -> !link.matches("(https?|mailto):.*"))
			.toList();
	}

	/** As GitHub makes them. */
	private static Set<String> anchors(String text) {
		Set<String> anchors = new TreeSet<>();
		Matcher heading = HEADING.matcher(text.replaceAll("(?ms)^```.*?^```$", ""));
		while (heading.find()) {
			String anchor = heading.group(1)
				.replaceAll("\\[([^]]*)\\]\\([^)]*\\)", "$1")
				.toLowerCase()
				.replaceAll("[^\\p{L}\\p{N}_ -]", "")
				.replace(' ', '-');
			String unique = anchor;
			for (int i = 1; !anchors.add(unique); i++) {
				unique = anchor + "-" + i;
			}
		}
		return anchors;
	}

}
