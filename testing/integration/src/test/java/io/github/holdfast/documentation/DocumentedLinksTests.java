package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Links lead to existing files and headings. */
class DocumentedLinksTests {

	private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

	private static final Pattern HEADING = Pattern.compile("^#+ +(.*)$", Pattern.MULTILINE);

	static List<Documentation.Page> pages() throws IOException {
		return Documentation.pages();
	}

	@Test
	void linksAreFound() throws IOException {
		assertThat(pages()).flatExtracting(DocumentedLinksTests::links).hasSizeGreaterThan(100);
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
