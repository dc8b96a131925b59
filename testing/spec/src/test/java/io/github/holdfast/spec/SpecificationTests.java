package io.github.holdfast.spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * TLC finds what the tables of {@code models.md} say: no error in the right models, and
 * in the broken twins the violation of one invariant.
 */
class SpecificationTests {

	private static final Path FOLDER = Path.of("").toAbsolutePath();

	private static final Pattern INVARIANTS = Pattern.compile("(?m)^(INVARIANT|PROPERT)\\w* (.*)$");

	private static final Pattern CONDITION = Pattern.compile("Keeps\\(\"([^\"]+)\"\\)");

	private static final int A_HANDFUL = 100;

	@TempDir
	Path temp;

	@ParameterizedTest
	@MethodSource("rightModels")
	void modelIsWhatItsRowSays(Row row) throws Exception {
		check(row);
	}

	@Tag("long")
	@Tag("night")
	@ParameterizedTest
	@MethodSource("twins")
	void twinIsWhatItsRowSays(Row row) throws Exception {
		check(row);
	}

	@Tag("long")
	@Tag("night")
	@ParameterizedTest
	@MethodSource("largerModels")
	void largerModelIsWhatItsRowSays(Row row) throws Exception {
		check(row);
	}

	private void check(Row row) throws Exception {
		Path configuration = Files.writeString(this.temp.resolve(row.model + ".cfg"), row.configuration());
		Tlc.Outcome outcome = Tlc.run(FOLDER.resolve(row.model + ".tla"), configuration, this.temp);
		assertThat(outcome.violation()).as(outcome.output()).isEqualTo(row.result);
		if (row.isRight()) {
			assertThat(outcome.states()).isGreaterThan(A_HANDFUL);
			assertThat(outcome.states() + " states").isEqualTo(row.size);
		}
		else {
			assertThat(outcome.steps() + " steps").isEqualTo(row.size);
		}
	}

	@Test
	void eachConditionIsLeftOutByATwin() throws IOException {
		Set<String> conditions = new TreeSet<>();
		for (Path module : files(".tla")) {
			CONDITION.matcher(Files.readString(module)).results().forEach((match) -> conditions.add(match.group(1)));
		}
		Set<String> leftOut = twins().flatMap((row) -> row.constants.stream())
			.filter((constant) -> constant.startsWith("Without = "))
			.map((constant) -> constant.substring("Without = ".length()).replace("\"", ""))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(leftOut).isEqualTo(conditions);
	}

	@Test
	void eachInvariantIsViolatedByATwinOfEachModel() throws IOException {
		Set<String> promised = new TreeSet<>();
		for (Path configuration : files(".cfg")) {
			String model = configuration.getFileName().toString().replace(".cfg", "");
			INVARIANTS.matcher(Files.readString(configuration))
				.results()
				.flatMap((match) -> Arrays.stream(match.group(2).split(" ")))
				.forEach((invariant) -> promised.add(model + " " + invariant));
		}
		Set<String> violated = twins().map((row) -> row.model + " " + row.result)
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(violated).isEqualTo(promised);
	}

	static Stream<Row> rightModels() throws IOException {
		return rows("## Models").filter(Row::isRight);
	}

	static Stream<Row> twins() throws IOException {
		return rows("## Models").filter((row) -> !row.isRight());
	}

	static Stream<Row> largerModels() throws IOException {
		return rows("## Larger bounds");
	}

	private static Stream<Row> rows(String heading) throws IOException {
		String tables = Files.readString(FOLDER.resolve("models.md"));
		String section = tables.substring(tables.indexOf(heading) + heading.length());
		return section.split("\n## ")[0].lines().filter((line) -> line.startsWith("| `")).map(Row::of);
	}

	private static List<Path> files(String ending) throws IOException {
		try (Stream<Path> files = Files.list(FOLDER)) {
			return files.filter((file) -> file.toString().endsWith(ending)).toList();
		}
	}

	/**
	 * A row of a table.
	 *
	 * @param model the model
	 * @param constants those that are other ones than in the file of the model
	 * @param result the invariant that is violated, or "no error"
	 * @param size how many states the model has, or steps the way to the violation
	 */
	record Row(String model, List<String> constants, String result, String size) {

		private static Row of(String line) {
			String[] cells = line.replace("`", "").split("\\s*\\|\\s*");
			List<String> constants = cells[2].isEmpty() ? List.of() : List.of(cells[2].split("; "));
			return new Row(cells[1], constants, cells[3], cells[4]);
		}

		private boolean isRight() {
			return this.result.equals("no error");
		}

		/**
		 * The file of the model with these constants. A twin is checked for the one
		 * invariant that it violates.
		 */
		private String configuration() throws IOException {
			List<String> lines = new ArrayList<>();
			for (String line : Files.readAllLines(FOLDER.resolve(this.model + ".cfg"))) {
				Matcher invariants = INVARIANTS.matcher(line);
				if (this.isRight() || !invariants.matches()) {
					lines.add(line);
				}
				else if (List.of(invariants.group(2).split(" ")).contains(this.result)) {
					lines.add(invariants.group(1).equals("PROPERT") ? "PROPERTY " + this.result
							: "INVARIANT " + this.result);
				}
			}
			for (String constant : this.constants) {
				String name = constant.split(" ")[0];
				assertThat(lines).filteredOn((line) -> line.startsWith("  " + name + " ")).hasSize(1);
				lines.replaceAll((line) -> line.startsWith("  " + name + " ") ? "  " + constant : line);
			}
			return String.join("\n", lines);
		}

		@Override
		public String toString() {
			return this.model + " " + this.constants + ": " + this.result;
		}

	}

}
