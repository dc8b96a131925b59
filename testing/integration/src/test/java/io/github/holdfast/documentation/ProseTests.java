package io.github.holdfast.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/** The pages contain none of the patterns in {@code prose.txt}. */
class ProseTests {

	private static final Pattern PAGE = Pattern
		.compile("((sample-wms-app/)?README|CONTRIBUTING|SECURITY|CHANGELOG)\\.md|docs/.*\\.md");

	static List<Documentation.Page> pages() throws IOException {
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
		assertThat(pages()).hasSizeGreaterThan(18);
		assertThat(patterns()).hasSizeGreaterThan(15);
	}

	@ParameterizedTest
	@MethodSource("pages")
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

}
