package io.github.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * The results of one benchmark in all rounds, as a line of a Markdown table.
 */
final class ResultRow {

	static final String HEADER = """

			| benchmark | score | range | CPU ns per call | range | bytes per call | commands per call |
			| --- | ---: | ---: | ---: | ---: | ---: | ---: |""";

	private static final String ALLOCATION = "gc.alloc.rate.norm";

	private final String label;

	private final List<Double> scores = new ArrayList<>();

	private final List<Double> cpu = new ArrayList<>();

	private final List<Double> bytes = new ArrayList<>();

	private double commands = Double.NaN;

	private String unit = "";

	ResultRow(String label) {
		this.label = label;
	}

	static String label(BenchmarkParams params) {
		String name = params.getBenchmark();
		int method = name.lastIndexOf('.');
		StringBuilder label = new StringBuilder(name.substring(name.lastIndexOf('.', method - 1) + 1));
		for (String key : params.getParamsKeys()) {
			label.append(' ').append(params.getParam(key));
		}
		return label.toString();
	}

	void add(RunResult result) {
		Result<?> primary = result.getPrimaryResult();
		this.unit = primary.getScoreUnit();
		this.scores.add(primary.getScore());
		this.cpu.add(result.getSecondaryResults().get(CpuTimeProfiler.PER_CALL).getScore());
		this.bytes.add(result.getSecondaryResults().get(ALLOCATION).getScore());
		this.commands = result.getSecondaryResults().get(CommandsProfiler.PER_CALL).getScore();
	}

	private static double median(List<Double> values) {
		List<Double> sorted = values.stream().sorted().toList();
		int middle = sorted.size() / 2;
		return (sorted.size() % 2 == 1) ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
	}

	private static String range(List<Double> values) {
		return String.format(Locale.ROOT, "%.1f to %.1f", Collections.min(values), Collections.max(values));
	}

	@Override
	public String toString() {
		return String.format(Locale.ROOT, "| %s | %.1f %s | %s | %.1f | %s | %.0f | %s |", this.label,
				median(this.scores), this.unit, range(this.scores), median(this.cpu), range(this.cpu),
				median(this.bytes),
				Double.isNaN(this.commands) ? "" : String.format(Locale.ROOT, "%.2f", this.commands));
	}

}
