package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The verdicts that {@code README.md} shows.
 */
final class VerdictTable {

	private static final Path PAGE = Path.of("README.md");

	/** Several strategies may share one. */
	private static final Pattern ROW = Pattern
		.compile("^\\| (`[a-z-]+`(?:, `[a-z-]+`)*) \\|((?: (?:[a-z ]+|–) \\|){8})$", Pattern.MULTILINE);

	/** What is wrong need not show at once. */
	private static final int ATTEMPTS = 20;

	private VerdictTable() {
	}

	/** Those that need the same nodes follow each other. */
	static List<Row> rows() throws IOException {
		return ROW.matcher(Files.readString(PAGE))
			.results()
			.flatMap(Row::of)
			.sorted(Comparator.comparing((row) -> row.strategy().nodeProperties().toString()))
			.toList();
	}

	/** What is right is right each time, what is wrong shows some time. */
	static void expect(Code verdict, Supplier<Run.View> run) {
		Code found = Stream.generate(() -> run.get().verdict().code())
			.limit(ATTEMPTS)
			.filter((code) -> code == verdict || code != Code.RIGHT)
			.findFirst()
			.orElse(Code.RIGHT);
		assertThat(found).isEqualTo(verdict);
	}

	/**
	 * A row of the page.
	 *
	 * @param verdicts the one on one node, and then one for each {@link Trouble}
	 */
	record Row(StrategyType strategy, List<Optional<Code>> verdicts) {

		static Stream<Row> of(MatchResult row) {
			return Stream.of(row.group(1).replace("`", "").split(", "))
				.map((strategy) -> new Row(StrategyType.of(strategy).orElseThrow(),
						Stream.of(row.group(2).split("\\|")).map(Row::code).toList()));
		}

		private static Optional<Code> code(String words) {
			return Arrays.stream(Code.values())
				.filter((code) -> code.name().replace('_', ' ').equalsIgnoreCase(words.strip()))
				.findFirst();
		}

		@Override
		public String toString() {
			return this.strategy.id();
		}

	}

}
