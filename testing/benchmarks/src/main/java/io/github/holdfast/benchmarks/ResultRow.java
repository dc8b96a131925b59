package io.github.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

import io.github.holdfast.benchmarks.contender.Contender;
import io.github.holdfast.benchmarks.report.Spread;

/**
 * The results of one benchmark in all rounds, as a line of a Markdown table.
 */
final class ResultRow {

	static final String HEADER = """

			| benchmark | score | range | of Redisson's | CPU ns per call | range | bytes per call | commands per call |
			| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |""";

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

	/**
	 * Returns what others of the same benchmark are compared with.
	 * @return the label of that row, which there need not be
	 */
	String baseline() {
		return this.label.split(" ")[0] + " " + Contender.REDISSON;
	}

	/**
	 * Returns a line of the table.
	 * @param baseline what this is compared with, if there is such a row
	 * @return the line
	 */
	String line(@Nullable ResultRow baseline) {
		return String.format(Locale.ROOT, "| %s | %.1f %s | %s | %s | %.1f | %s | %.1f | %s |", this.label,
				median(this.scores), this.unit, range(this.scores),
				(baseline != null) ? format(Spread.ofRatios(this.scores, baseline.scores).median()) : "",
				median(this.cpu), range(this.cpu), median(this.bytes),
				Double.isNaN(this.commands) ? "" : format(this.commands));
	}

	private static String format(double value) {
		return String.format(Locale.ROOT, "%.2f", value);
	}

	private static String range(List<Double> values) {
		Spread spread = Spread.of(values);
		return String.format(Locale.ROOT, "%.1f to %.1f", spread.smallest(), spread.largest());
	}

	private static double median(List<Double> values) {
		return Spread.of(values).median();
	}

}
