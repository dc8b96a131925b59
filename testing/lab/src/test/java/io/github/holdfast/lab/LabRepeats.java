package io.github.holdfast.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.VerdictTable.Row;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * Runs each strategy on two nodes ten times with each {@link Trouble}, and writes to
 * {@code results.md} what came of it, beside the lines that are there already. What is
 * right is right each time, what is wrong shows some time where {@code README.md} shows
 * so, and luck is called luck. No build runs it, as it takes an hour.
 */
class LabRepeats {

	private static final int TIMES = Integer.getInteger("lab.repeats", 10);

	/** So many labs run at once, each with servers and nodes of its own. */
	private static final int LABS = Integer.getInteger("lab.repeats.labs", 4);

	/** All whose lines are not there yet, or those that are named. */
	private static final @Nullable String STRATEGIES = System.getProperty("lab.repeats.strategies");

	private static final Path PAGE = Path.of("results.md");

	private static final Set<Trouble> TROUBLES = EnumSet.complementOf(EnumSet.of(Trouble.FROZEN_AT_RELEASE));

	private static final Set<Trouble> TROUBLES_OF_REDIS = EnumSet.of(Trouble.REDIS_RESTARTED, Trouble.REPLICA_PROMOTED);

	private final Map<Row, Map<Trouble, List<Verdict>>> verdicts = new ConcurrentHashMap<>();

	private final Map<String, String> lines = new TreeMap<>();

	@Test
	void verdictsAreThoseOfThePage() throws IOException {
		if (Files.exists(PAGE)) {
			Pattern.compile("^\\| `([^`]+)` .*$", Pattern.MULTILINE)
				.matcher(Files.readString(PAGE))
				.results()
				.forEach((line) -> this.lines.put(line.group(1), line.group()));
		}
		runAll(VerdictTable.rows().stream().filter(this::isWanted).toList());
		SoftAssertions.assertSoftly((softly) -> this.verdicts.forEach((row, troubles) -> troubles.forEach((trouble,
				verdicts) -> check(softly, row.strategy() + ", " + trouble, trouble.verdict(row), verdicts))));
	}

	private boolean isWanted(Row row) {
		String strategy = row.strategy().id();
		return (STRATEGIES != null) ? List.of(STRATEGIES.split(",")).contains(strategy)
				: !this.lines.containsKey(strategy);
	}

	private void runAll(List<Row> rows) {
		Queue<Row> open = new ConcurrentLinkedQueue<>(rows);
		ExecutorService executor = Executors.newFixedThreadPool(LABS);
		try {
			CompletableFuture
				.allOf(IntStream.range(0, LABS)
					.mapToObj((lab) -> CompletableFuture.runAsync(() -> run(open), executor))
					.toArray(CompletableFuture[]::new))
				.join();
		}
		finally {
			executor.shutdown();
		}
	}

	private void run(Queue<Row> open) {
		try (ConfigurableApplicationContext application = startLab()) {
			int port = Objects.requireNonNull(((WebServerApplicationContext) application).getWebServer()).getPort();
			LabClient lab = new LabClient(port);
			for (Row row = open.poll(); row != null; row = open.poll()) {
				Map<Trouble, List<Verdict>> ofRow = new EnumMap<>(Trouble.class);
				for (Trouble trouble : TROUBLES) {
					if (canMeet(row, trouble)) {
						String experiment = trouble.experiment(row.strategy());
						ofRow.put(trouble,
								Stream.generate(() -> Objects.requireNonNull(lab.run(experiment).verdict()))
									.limit(TIMES)
									.toList());
					}
				}
				add(row, ofRow);
			}
		}
	}

	/**
	 * One after the other: each installation of MariaDB removes what another one has in
	 * the folder for temporary files.
	 */
	private synchronized ConfigurableApplicationContext startLab() {
		return SpringApplication.run(LabApplication.class, "--spring.profiles.active=lab", "--server.port=0");
	}

	private synchronized void add(Row row, Map<Trouble, List<Verdict>> ofRow) {
		this.verdicts.put(row, ofRow);
		this.lines.put(row.strategy().id(), line(row, ofRow));
		try {
			Files.writeString(PAGE, page());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean canMeet(Row row, Trouble trouble) {
		return !TROUBLES_OF_REDIS.contains(trouble)
				|| row.strategy().source().toLowerCase(Locale.ROOT).contains("redis");
	}

	private static void check(SoftAssertions softly, String where, @Nullable Code expected, List<Verdict> verdicts) {
		if (expected == Code.RIGHT) {
			softly.assertThat(verdicts).as(where).allMatch(LabRepeats::isGreen);
		}
		else if (expected != null) {
			softly.assertThat(verdicts).as(where).extracting(Verdict::code).contains(expected);
		}
		if (verdicts.stream().anyMatch((verdict) -> verdict.code() != Code.RIGHT)) {
			softly.assertThat(verdicts).as("%s: luck is not green", where).noneMatch(LabRepeats::isGreen);
		}
	}

	private static boolean isGreen(Verdict verdict) {
		return verdict.code() == Code.RIGHT && Boolean.FALSE.equals(verdict.arguments().get("lucky"));
	}

	private String page() {
		return """
				# Each strategy of the lab, %d times

				On two nodes. *Luck*: nothing was lost, but it might have been. An empty cell: the strategy does not use
				Redis. The [README](README.md#strategies-and-verdicts) explains the verdicts. Each fault comes 200 ms after
				the first order; `LabFaultTests` causes it later, and repeats wrong strategies until they fail. %s

				```shell
				./mvnw -pl testing/lab -am test -Dtest=LabRepeats -Dsurefire.failIfNoSpecifiedTests=false
				```

				| strategy | %s |
				| --- |%s
				%s
				"""
			.formatted(TIMES, missing(), TROUBLES.stream().map(Trouble::toString).collect(Collectors.joining(" | ")),
					" --- |".repeat(TROUBLES.size()), String.join("\n", this.lines.values()));
	}

	private String missing() {
		int all = StrategyType.values().length;
		return (this.lines.size() < all) ? "So far, %d of %d strategies were run.".formatted(this.lines.size(), all)
				: "";
	}

	private static String line(Row row, Map<Trouble, List<Verdict>> ofRow) {
		return TROUBLES.stream()
			.map((trouble) -> cell(ofRow.getOrDefault(trouble, List.of())))
			.collect(Collectors.joining(" | ", "| `" + row.strategy().id() + "` | ", " |"));
	}

	private static String cell(List<Verdict> verdicts) {
		return verdicts.stream()
			.collect(Collectors.groupingBy(LabRepeats::word, TreeMap::new, Collectors.counting()))
			.entrySet()
			.stream()
			.map((word) -> word.getKey() + " " + word.getValue())
			.collect(Collectors.joining(", "));
	}

	private static String word(Verdict verdict) {
		if (verdict.code() == Code.RIGHT && !isGreen(verdict)) {
			return "luck";
		}
		return verdict.code().name().toLowerCase(Locale.ROOT).replace('_', ' ');
	}

}
