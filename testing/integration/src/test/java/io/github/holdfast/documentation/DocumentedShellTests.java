package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A shell can parse the commands in the pages, and what they name exists. */
class DocumentedShellTests {

	private static final Pattern MODULES = Pattern.compile(" -pl ([\\w/,-]+)");

	private static final Pattern PROFILES = Pattern.compile(" -P ?([\\w,-]+)");

	private static final Pattern TESTS = Pattern.compile(" -D(?:it\\.)?test='?([\\w,]+)");

	private static final Pattern CLASSES = Pattern.compile("io\\.github\\.holdfast(?:\\.\\w+)+");

	private static final Set<String> NO_TESTS = Set.of("NoSuchTests");

	static List<Documentation.Block> blocks() throws IOException {
		return Documentation.blocks("shell");
	}

	@ParameterizedTest
	@MethodSource("blocks")
	@DisabledOnOs(OS.WINDOWS)
	void shellParsesIt(Documentation.Block block) throws Exception {
		Process shell = new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
		try {
			shell.outputWriter().append(block.text()).close();
			assertThat(shell.waitFor(10, TimeUnit.SECONDS)).isTrue();
			assertThat(new String(shell.getInputStream().readAllBytes())).isEmpty();
		}
		finally {
			shell.destroyForcibly();
		}
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void namesWhatIsThere(Documentation.Block block) throws IOException {
		assertThat(names(MODULES, block)).allSatisfy((name) -> assertThat(Documentation.ROOT.resolve(name)).exists());
		String build = Files.readString(Documentation.ROOT.resolve("pom.xml"));
		assertThat(names(PROFILES, block)).allSatisfy((name) -> assertThat(build).contains("<id>" + name + "</id>"));
		Set<String> sources = sources();
		assertThat(names(TESTS, block)).filteredOn((name) -> !NO_TESTS.contains(name)).isSubsetOf(sources);
		assertThat(CLASSES.matcher(block.text()).results().map(MatchResult::group))
			.allSatisfy((name) -> assertThat(sources).contains(name.substring(name.lastIndexOf('.') + 1)));
	}

	private static List<String> names(Pattern pattern, Documentation.Block block) {
		return pattern.matcher(block.text())
			.results()
			.flatMap((match) -> Stream.of(match.group(1).split(",")))
			.toList();
	}

	/** The names of all classes that have a file. */
	private static Set<String> sources() throws IOException {
		return Documentation.files(".java")
			.stream()
			.map((file) -> file.getFileName().toString().replace(".java", ""))
			.collect(Collectors.toSet());
	}

}
