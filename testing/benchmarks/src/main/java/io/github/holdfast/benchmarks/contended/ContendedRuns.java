package io.github.holdfast.benchmarks.contended;

import java.io.IOException;
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

import io.github.holdfast.benchmarks.Contender;
import io.github.holdfast.benchmarks.Store;
import io.github.holdfast.benchmarks.Stores;
import io.github.holdfast.benchmarks.Machine;

/**
 * Measures locks that many threads want. Every contender has JVMs of its own, which are
 * warmed up once. Then each round measures every contender for a short time, so that a
 * load of the machine that comes and goes hits all of them. Each fork begins anew with
 * other JVMs, as no two compile quite the same code.
 */
public final class ContendedRuns {

	private final SimpleCommandLinePropertySource options;

	private final List<ScenarioResults> results = new ArrayList<>();

	private final Map<String, String> failures = new LinkedHashMap<>();

	private ContendedRuns(String... args) {
		this.options = new SimpleCommandLinePropertySource(args);
	}

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
		for (Scenario scenario : constants(Scenario.class, "scenarios")) {
			this.results.add(new ScenarioResults(scenario, this.options.containsProperty("baselines")
					? constants(Contender.class, "baselines") : scenario.baselines()));
		}
		int forks = Integer.parseInt(option("forks", "1"));
		for (int fork = 1; fork <= forks; fork++) {
			for (ScenarioResults results : this.results) {
				run(results, stores);
			}
		}
	}

	private void run(ScenarioResults results, Stores stores) throws IOException, InterruptedException {
		Collection<Contender> contenders = constants(Contender.class, "contenders");
		List<Competitor> competitors = new ArrayList<>();
		try {
			for (Contender contender : results.scenario().contenders()) {
				if (contenders.contains(contender)) {
					attempt(results, contender, () -> competitors.add(start(results.scenario(), contender, stores)));
				}
			}
			int rounds = Integer.parseInt(option("rounds", "10"));
			for (int round = 1; round <= rounds; round++) {
				for (Competitor competitor : competitors) {
					attempt(results, competitor.contender(), () -> measure(results, competitor));
				}
			}
		}
		finally {
			for (Competitor competitor : competitors) {
				competitor.close();
			}
		}
	}

	private Competitor start(Scenario scenario, Contender contender, Stores stores)
			throws IOException, InterruptedException {
		List<String> properties = scenario.isDistant() ? stores.distantProperties(duration("delay", "100us"))
				: stores.properties();
		return Competitor.start(scenario, contender, duration("warm-up", "40s"), duration("measure", "2s"),
				properties.stream().map((property) -> url(property, scenario)).toList());
	}

	private static String url(String property, Scenario scenario) {
		return scenario.hasMySqlDriver() ? property.replace("jdbc:mariadb:", "jdbc:mysql:")
			.replace("user=root", "user=root&sslMode=DISABLED&allowPublicKeyRetrieval=true") : property;
	}

	private void measure(ScenarioResults results, Competitor competitor) throws InterruptedException {
		RoundResult result = competitor.round();
		results.add(competitor.contender(), result);
		System.out.printf(Locale.ROOT, "%s %s: %.0f/s, p99 %.3g ms%n", results.scenario(), competitor.contender(),
				result.rate(), result.p99());
	}

	/** One that has failed has no results any more, as all have one of each round. */
	private void attempt(ScenarioResults results, Contender contender, Step step)
			throws IOException, InterruptedException {
		String name = results.scenario() + " " + contender;
		if (this.failures.containsKey(name)) {
			return;
		}
		try {
			step.run();
		}
		catch (IllegalStateException ex) {
			this.failures.put(name, ex.getMessage());
			results.remove(contender);
		}
	}

	private void report(String machine) {
		this.results.removeIf(ScenarioResults::isEmpty);
		for (ScenarioResults results : this.results) {
			System.out.println("\n" + results.table());
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

	@FunctionalInterface
	private interface Step {

		void run() throws IOException, InterruptedException;

	}

}
