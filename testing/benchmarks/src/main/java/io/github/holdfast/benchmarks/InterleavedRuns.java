package io.github.holdfast.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs benchmarks with JMH's command line, but one fork of each per round, so that a load
 * of the machine that comes and goes hits all of them. Prints the medians over the rounds
 * as a table.
 */
public final class InterleavedRuns {

	private static final int DEFAULT_ROUNDS = 5;

	private static final String ALLOCATION = "gc.alloc.rate.norm";

	private InterleavedRuns() {
	}

	public static void main(String[] args) throws CommandLineOptionException, RunnerException, IOException {
		CommandLineOptions commandLine = new CommandLineOptions(args);
		if (commandLine.shouldHelp()) {
			commandLine.showHelp();
			return;
		}
		Options round = new OptionsBuilder().parent(commandLine)
			.forks(1)
			.shouldFailOnError(true)
			.addProfiler(GCProfiler.class)
			.addProfiler(CallProfiler.class)
			.build();
		Map<String, List<RunResult>> results = new LinkedHashMap<>();
		for (int i = commandLine.getForkCount().orElse(DEFAULT_ROUNDS); i > 0; i--) {
			new Runner(round).run()
				.forEach((result) -> results.computeIfAbsent(label(result.getParams()), (label) -> new ArrayList<>())
					.add(result));
		}
		System.out.println(
				"""
						| benchmark | score | range | of Redisson's | CPU ns per call | range | bytes per call | commands per call |
						| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |""");
		results.forEach((label, rounds) -> {
			List<RunResult> redisson = results.get(label.split(" ")[0] + " " + Contender.REDISSON);
			System.out.println(row(label, rounds, (redisson != null) ? redisson : List.of()));
		});
		System.out.println("\n" + Machine.description());
	}

	private static String label(BenchmarkParams params) {
		String name = params.getBenchmark();
		StringBuilder label = new StringBuilder(name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1));
		params.getParamsKeys().forEach((key) -> label.append(' ').append(params.getParam(key)));
		return label.toString();
	}

	private static String row(String label, List<RunResult> rounds, List<RunResult> redisson) {
		Spread score = Spread.of(scores(rounds));
		Spread cpu = secondary(rounds, CallProfiler.CPU);
		double commands = secondary(rounds, CallProfiler.COMMANDS).median();
		return String.format(Locale.ROOT, "| %s | %.1f %s | %s | %s | %.1f | %s | %.1f | %s |", label, score.median(),
				rounds.get(0).getPrimaryResult().getScoreUnit(), range(score),
				redisson.isEmpty() ? "" : format(Spread.ofRatios(scores(rounds), scores(redisson)).median()),
				cpu.median(), range(cpu), secondary(rounds, ALLOCATION).median(),
				Double.isNaN(commands) ? "" : format(commands));
	}

	private static List<Double> scores(List<RunResult> rounds) {
		return rounds.stream().map((result) -> result.getPrimaryResult().getScore()).toList();
	}

	private static Spread secondary(List<RunResult> rounds, String name) {
		return Spread.of(rounds.stream().map((result) -> result.getSecondaryResults().get(name).getScore()).toList());
	}

	private static String range(Spread spread) {
		return String.format(Locale.ROOT, "%.1f to %.1f", spread.smallest(), spread.largest());
	}

	private static String format(double value) {
		return String.format(Locale.ROOT, "%.2f", value);
	}

}
