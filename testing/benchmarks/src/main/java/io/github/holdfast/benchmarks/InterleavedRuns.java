package io.github.holdfast.benchmarks;

import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

import io.github.holdfast.benchmarks.report.Machine;

/**
 * Runs benchmarks with JMH's command line, but one fork of each per round, so that a load
 * of the machine that comes and goes hits all of them. Prints the medians over the rounds
 * as a table.
 */
public final class InterleavedRuns {

	private static final int DEFAULT_ROUNDS = 5;

	private InterleavedRuns() {
	}

	/**
	 * Run benchmarks.
	 * @param args JMH's options; {@code -f} is the number of rounds
	 * @throws CommandLineOptionException if an option is unknown
	 * @throws RunnerException if a benchmark fails
	 * @throws IOException if the help cannot be written
	 */
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
			.addProfiler(CpuTimeProfiler.class)
			.addProfiler(CommandsProfiler.class)
			.build();
		Map<String, ResultRow> rows = new LinkedHashMap<>();
		for (int i = commandLine.getForkCount().orElse(DEFAULT_ROUNDS); i > 0; i--) {
			add(new Runner(round).run(), rows);
		}
		System.out.println(ResultRow.HEADER);
		rows.values().forEach((row) -> System.out.println(row.line(rows.get(row.baseline()))));
		System.out.println("\n" + Machine.description());
	}

	private static void add(Collection<RunResult> results, Map<String, ResultRow> rows) {
		for (RunResult result : results) {
			String label = ResultRow.label(result.getParams());
			rows.computeIfAbsent(label, ResultRow::new).add(result);
		}
	}

}
