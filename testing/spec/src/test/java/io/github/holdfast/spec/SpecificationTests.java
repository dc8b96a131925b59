package io.github.holdfast.spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** TLC finds what the tables of {@code models.md} say. */
class SpecificationTests {

	private static final Pattern SENTENCE = Pattern.compile("Keeps\\(\"([^\"]+)\"\\)");

	@TempDir
	Path temp;

	@Tag("long")
	@ParameterizedTest
	@MethodSource("rule")
	void ruleHolds(Row row) throws Exception {
		check(row);
	}

	@Tag("long")
	@ParameterizedTest
	@MethodSource("twins")
	void twinIsRefuted(Row row) throws Exception {
		check(row);
	}

	@Tag("long")
	@ParameterizedTest
	@MethodSource("exceptions")
	void statedExceptionIsReal(Row row) throws Exception {
		check(row);
	}

	@Tag("long")
	@Tag("night")
	@ParameterizedTest
	@MethodSource("largerBounds")
	void ruleHoldsWithinLargerBounds(Row row) throws Exception {
		check(row);
	}

	private void check(Row row) throws Exception {
		Path configuration = Files.writeString(this.temp.resolve(row.model() + ".cfg"), row.configuration());
		Tlc.Outcome outcome = Tlc.run(Row.FOLDER.resolve(row.model() + ".tla"), configuration, this.temp);
		assertThat(outcome.violation()).as(outcome.output()).isEqualTo(row.result());
		assertThat(outcome.steps()).isEqualTo(row.steps());
		assertThat(outcome.states()).isEqualTo(row.states());
	}

	@Test
	void eachSentenceIsLeftOutByATwin() throws IOException {
		Set<String> sentences = new TreeSet<>();
		for (Path module : files(".tla")) {
			SENTENCE.matcher(Files.readString(module)).results().forEach((match) -> sentences.add(match.group(1)));
		}
		Set<String> leftOut = twins().map(Row::sentence).collect(Collectors.toCollection(TreeSet::new));
		assertThat(leftOut).isEqualTo(sentences);
		assertThat(twins()).noneMatch(Row::isRight);
	}

	@Test
	void eachInvariantIsViolatedByATwinOfEachModel() throws IOException {
		Set<String> promised = new TreeSet<>();
		for (Path configuration : files(".cfg")) {
			String model = configuration.getFileName().toString().replace(".cfg", "");
			Files.readAllLines(configuration)
				.stream()
				.map(Row.INVARIANTS::matcher)
				.filter((matcher) -> matcher.matches())
				.flatMap((matcher) -> Arrays.stream(matcher.group(2).split(" ")))
				.forEach((invariant) -> promised.add(model + " " + invariant));
		}
		Set<String> violated = twins().map((row) -> row.model() + " " + row.result())
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(violated).isEqualTo(promised);
	}

	static Stream<Row> rule() throws IOException {
		return Row.under("## The rule holds");
	}

	static Stream<Row> twins() throws IOException {
		return Row.under("## Each sentence is needed");
	}

	static Stream<Row> exceptions() throws IOException {
		return Row.under("## Stated exceptions");
	}

	static Stream<Row> largerBounds() throws IOException {
		return Row.under("## Larger bounds");
	}

	private static List<Path> files(String ending) throws IOException {
		try (Stream<Path> files = Files.list(Row.FOLDER)) {
			return files.filter((file) -> file.toString().endsWith(ending)).toList();
		}
	}

}
