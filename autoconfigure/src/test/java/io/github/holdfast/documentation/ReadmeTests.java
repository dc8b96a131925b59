package io.github.holdfast.documentation;

import java.io.IOException;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README is short.
 */
class ReadmeTests {

	@Test
	void hasAtMostNineHundredWords() throws IOException {
		List<String> words = Documentation.pages()
			.stream()
			.filter((page) -> page.toString().equals("README.md"))
			.flatMap((page) -> List.of(page.prose().trim().split("\\s+")).stream())
			.toList();
		assertThat(words).hasSizeBetween(300, 900);
	}

}
