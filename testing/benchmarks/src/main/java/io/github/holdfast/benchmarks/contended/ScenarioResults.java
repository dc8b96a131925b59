package io.github.holdfast.benchmarks.contended;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import io.github.holdfast.benchmarks.Contender;
import io.github.holdfast.benchmarks.Spread;

/** What was measured in one scenario, as a table in Markdown. */
final class ScenarioResults {

	private final Scenario scenario;

	private final Collection<Contender> baselines;

	private final Map<Contender, List<RoundResult>> rounds = new EnumMap<>(Contender.class);

	ScenarioResults(Scenario scenario, Collection<Contender> baselines) {
		this.scenario = scenario;
		this.baselines = baselines;
	}

	void add(Contender contender, RoundResult result) {
		this.rounds.computeIfAbsent(contender, (c) -> new ArrayList<>()).add(result);
	}

	/** Forget one that has failed, so that all others have a result of each round. */
	void remove(Contender contender) {
		this.rounds.remove(contender);
	}

	Scenario scenario() {
		return this.scenario;
	}

	boolean isEmpty() {
		return this.rounds.isEmpty();
	}

	String table() {
		StringBuilder table = new StringBuilder("### " + this.scenario.title() + "\n\n| lock | calls per s | range |");
		baselines().forEach((baseline) -> table.append(" of ").append(shortTitle(baseline)).append("'s |"));
		table.append(" p50 ms | p99 ms | client CPU µs per call |")
			.append(hasShares() ? " share of the slower JVM |\n" : "\n");
		table.append("| --- | ---: | ---: |")
			.append(" ---: |".repeat(baselines().size() + 3))
			.append(hasShares() ? " ---: |\n" : "\n");
		this.rounds.keySet().forEach((contender) -> table.append(row(contender)));
		return table.toString();
	}

	private String row(Contender contender) {
		Spread rate = spread(contender, RoundResult::rate);
		StringBuilder row = new StringBuilder();
		row.append(format("| %s | %s | %s to %s |", contender.title(), rounded(rate.median()), rounded(rate.smallest()),
				rounded(rate.largest())));
		baselines().forEach((baseline) -> row.append(format(" %s |", ratio(contender, baseline))));
		row.append(format(" %s | %s | %.1f |", millis(contender, RoundResult::p50), millis(contender, RoundResult::p99),
				spread(contender, RoundResult::cpu).median()));
		if (hasShares()) {
			row.append(format(" %.0f %% |", 100 * spread(contender, RoundResult::smallestShare).median()));
		}
		return row.append('\n').toString();
	}

	private List<Contender> baselines() {
		return this.baselines.stream().filter(this.rounds::containsKey).toList();
	}

	private boolean hasShares() {
		return this.scenario.jvms() > 1;
	}

	private Spread spread(Contender contender, ToDoubleFunction<RoundResult> value) {
		return Spread.of(values(contender, value));
	}

	private List<Double> values(Contender contender, ToDoubleFunction<RoundResult> value) {
		return this.rounds.get(contender).stream().mapToDouble(value).boxed().toList();
	}

	private String ratio(Contender contender, Contender baseline) {
		if (contender == baseline) {
			return "1";
		}
		Spread ratios = Spread.ofRatios(values(contender, RoundResult::rate), values(baseline, RoundResult::rate));
		String format = (ratios.median() < 10) ? "%.2f" : "%.0f";
		return format(format + " (" + format + " to " + format + ")", ratios.median(), ratios.smallest(),
				ratios.largest());
	}

	private String millis(Contender contender, ToDoubleFunction<RoundResult> value) {
		double millis = spread(contender, value).median();
		return format((millis < 0.1) ? "%.4f" : (millis < 10) ? "%.2f" : "%.0f", millis);
	}

	private static String shortTitle(Contender contender) {
		return contender.title().split(",")[0].replace(" 4.7.0", "");
	}

	private static String rounded(double rate) {
		double unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(rate)) - 2));
		return format("%.0f", Math.round(rate / unit) * unit);
	}

	private static String format(String text, Object... args) {
		return String.format(Locale.ROOT, text, args);
	}

}
