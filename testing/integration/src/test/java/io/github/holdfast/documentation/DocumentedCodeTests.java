package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Java code in the pages is an excerpt of code that the build compiles. An ellipsis
 * stands for code that the page omits; white space and comments at the end of a line are
 * ignored.
 */
class DocumentedCodeTests {

	/** The folders with the compiled code. */
	private static final List<String> SOURCES = List.of("autoconfigure/src", "testing/integration/src",
			"testing/test/src", "sample-wms-app/src/main");

	static List<Documentation.Block> blocks() throws IOException {
		return Documentation.blocks("java");
	}

	@ParameterizedTest
	@CsvSource({ "java, 13, README.md", "yaml, 9, README.md docs/backend-redis.md docs/operations.md",
			"sql, 6, README.md docs/backend-jdbc.md", "xml, 5, README.md", "shell, 11, README.md" })
	void blocksAreFound(String language, int least, String pages) throws IOException {
		assertThat(Documentation.blocks(language)).hasSizeGreaterThanOrEqualTo(least)
			.extracting(Documentation.Block::page)
			.contains(pages.split(" "));
	}

	/** Others: the user of Redis, a dependency for Gradle, the startup, and a diagram. */
	@Test
	void everyBlockIsReadByATest() throws IOException {
		assertThat(Documentation.pages()).flatExtracting(Documentation.Page::blocks)
			.filteredOn((block) -> !Set.of("java", "yaml", "sql", "xml", "shell").contains(block.language()))
			.extracting((block) -> block.page() + ' ' + block.language())
			.containsExactlyInAnyOrder("docs/backend-redis.md ", "docs/getting-started.md kotlin",
					"docs/getting-started.md text", "docs/internals/path-of-a-call.md text");
	}

	@Test
	void codeThatIsNotCompiledIsDetected() throws IOException {
		assertThat(isCompiled("@DistributedLock(keys = \"#sku\") void deduct() { … }")).isFalse();
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void codeIsCompiled(Documentation.Block block) throws IOException {
		assertThat(isCompiled(block.text())).as("an excerpt of compiled code: %s", block.text()).isTrue();
	}

	private static boolean isCompiled(String code) throws IOException {
		Pattern excerpt = Pattern.compile(Stream.of(normalized(code).split("…"))
			.map((part) -> Pattern.quote(part))
			.collect(Collectors.joining(".*?")));
		for (String module : SOURCES) {
			try (Stream<Path> files = Files.find(Documentation.ROOT.resolve(module), 20,
					(file, attributes) -> file.toString().endsWith(".java"))) {
				for (Path file : files.toList()) {
					if (excerpt.matcher(normalized(Files.readString(file))).find()) {
						return true;
					}
				}
			}
		}
		return false;
	}

	private static String normalized(String code) {
		return code.replaceAll("(?m)[ \\t]// .*$", "").replaceAll("\\s+", "");
	}

}
