package io.github.holdfast.benchmarks.contended;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.SimpleCommandLinePropertySource;

import io.github.holdfast.benchmarks.contender.Contender;
import io.github.holdfast.benchmarks.contender.Store;
import io.github.holdfast.benchmarks.contender.Stores;
import io.github.holdfast.benchmarks.report.Machine;

/**
 * Measures locks that many threads want. Each round measures every contender once, in
 * JVMs of its own, so that a load of the machine that comes and goes hits all of them.
 */
public final class ContendedRuns {

	private final SimpleCommandLinePropertySource options;

	private final List<ScenarioResults> results = new ArrayList<>();

	private final Map<String, String> failures = new LinkedHashMap<>();

	private ContendedRuns(String... args) {
		this.options = new SimpleCommandLinePropertySource(args);
	}

	/**
	 * Measure, print tables and draw charts.
	 * @param args {@code --rounds}, {@code --warm-up}, {@code --measure},
	 * {@code --scenarios}, {@code --contenders} and {@code --charts}
	 * @throws IOException if a worker cannot be started or a chart not be written
	 * @throws InterruptedException if interrupted
	 */
	public static void main(String[] args) throws IOException, InterruptedException {
		ContendedRuns runs = new ContendedRuns(args);
		double load = Machine.load();
		try (Stores stores = Stores.start(EnumSet.allOf(Store.class))) {
			runs.run(stores);
		}
		runs.report(String.format(Locale.ROOT, "%s, load %.1f before and %.1f after", Machine.description(), load,
				Machine.load()));
		System.exit(runs.failures.isEmpty() ? 0 : 1);
	}

	private void run(Stores stores) throws IOException, InterruptedException {
		Collection<Scenario> scenarios = constants(Scenario.class, "scenarios");
		Collection<Contender> contenders = constants(Contender.class, "contenders");
		Measurement measurement = new Measurement(duration("warm-up", "3s"), duration("measure", "3s"),
				stores.properties());
		scenarios.forEach((scenario) -> this.results.add(new ScenarioResults(scenario)));
		int rounds = Integer.parseInt(option("rounds", "5"));
		for (int round = 1; round <= rounds; round++) {
			for (ScenarioResults results : this.results) {
				for (Contender contender : results.scenario().contenders()) {
					if (contenders.contains(contender)) {
						measure(round, results, contender, measurement);
					}
				}
			}
		}
	}

	private void measure(int round, ScenarioResults results, Contender contender, Measurement measurement)
			throws IOException, InterruptedException {
		String name = results.scenario() + " " + contender;
		if (this.failures.containsKey(name)) {
			return;
		}
		try {
			RoundResult result = measurement.of(results.scenario(), contender);
			results.add(contender, result);
			System.out.printf(Locale.ROOT, "%d %s: %.0f/s, p99 %.3g ms%n", round, name, result.rate(), result.p99());
		}
		catch (IllegalStateException ex) {
			this.failures.put(name, ex.getMessage());
			results.remove(contender);
		}
	}

	private void report(String machine) throws IOException {
		String charts = this.options.getProperty("charts");
		this.results.removeIf(ScenarioResults::isEmpty);
		for (ScenarioResults results : this.results) {
			System.out.println("\n" + results.table());
			if (charts != null) {
				String file = results.scenario().name().toLowerCase(Locale.ROOT).replace('_', '-') + ".svg";
				results.chart(machine).write(Path.of(charts, file));
			}
		}
		System.out.println(machine);
		this.failures.forEach((name, failure) -> System.out.println("FAILED: " + name + ": " + failure));
	}

	private <T extends Enum<T>> Collection<T> constants(Class<T> type, String option) {
		String names = this.options.getProperty(option);
		return (names == null) ? EnumSet.allOf(type)
				: Arrays.stream(names.split(",")).map((name) -> Enum.valueOf(type, name)).toList();
	}

	private Duration duration(String option, String value) {
		return DurationStyle.detectAndParse(option(option, value));
	}

	private String option(String option, String value) {
		String given = this.options.getProperty(option);
		return (given != null) ? given : value;
	}

}
