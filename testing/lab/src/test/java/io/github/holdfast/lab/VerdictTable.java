package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

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

	/**
	 * Those that need the same nodes follow each other.
	 */
	static List<Row> rows() throws IOException {
		return ROW.matcher(Files.readString(PAGE))
			.results()
			.flatMap(Row::of)
			.sorted(Comparator.comparing((row) -> row.strategy().nodeProperties().toString()))
			.toList();
	}

	/**
	 * Runs something until a verdict is found: what is right is right each time, what is
	 * wrong shows some time.
	 */
	static void expect(Code verdict, Supplier<RunView> run) {
		Code found;
		int attempt = 0;
		do {
			Verdict answer = run.get().verdict();
			assertThat(answer).isNotNull();
			found = answer.code();
			attempt++;
		}
		while (found != verdict && found == Code.RIGHT && attempt < ATTEMPTS);
		assertThat(found).isEqualTo(verdict);
	}

	/**
	 * A row of the page.
	 *
	 * @param strategy the strategy
	 * @param oneNode its verdict on one node
	 * @param twoNodes its verdict on two nodes
	 * @param frozen when one of them stands still, while an order works
	 * @param frozenAtCommit when one of them stands still, while an order commits
	 * @param frozenAtRelease when one of them stands still, while an order gives its lock
	 * back
	 * @param killed when one of them is killed, while an order works
	 * @param redisRestarted when Redis is restarted and has forgotten everything
	 * @param replicaPromoted when a replica of Redis takes its place that lags behind
	 */
	record Row(StrategyType strategy, Code oneNode, Code twoNodes, @Nullable Code frozen, @Nullable Code frozenAtCommit,
			@Nullable Code frozenAtRelease, @Nullable Code killed, @Nullable Code redisRestarted,
			@Nullable Code replicaPromoted) {

		static Stream<Row> of(MatchResult row) {
			String[] words = row.group(2).split("\\|");
			return Stream.of(row.group(1).replace("`", "").split(", "))
				.map((strategy) -> new Row(StrategyType.of(strategy).orElseThrow(),
						Objects.requireNonNull(code(words[0])), Objects.requireNonNull(code(words[1])), code(words[2]),
						code(words[3]), code(words[4]), code(words[5]), code(words[6]), code(words[7])));
		}

		private static @Nullable Code code(String words) {
			return Arrays.stream(Code.values())
				.filter((code) -> code.name().replace('_', ' ').equalsIgnoreCase(words.strip()))
				.findFirst()
				.orElse(null);
		}

		@Override
		public String toString() {
			return this.strategy.id();
		}

	}

}
