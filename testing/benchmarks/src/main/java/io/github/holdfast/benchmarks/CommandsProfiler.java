package io.github.holdfast.benchmarks;

import java.util.Collection;
import java.util.List;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Reports how many commands a call sends to its store, as counted by the benchmark.
 */
public final class CommandsProfiler implements InternalProfiler {

	static final String PER_CALL = "commands.norm";

	private static volatile double perCall = Double.NaN;

	/**
	 * Note what was counted in this JVM.
	 * @param commands the commands of one call
	 */
	public static void counted(double commands) {
		perCall = commands;
	}

	@Override
	public String getDescription() {
		return "Commands sent to the store per call";
	}

	@Override
	public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
	}

	@Override
	public Collection<ScalarResult> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
			IterationResult result) {
		return List.of(new ScalarResult(PER_CALL, perCall, "commands/op", AggregationPolicy.AVG));
	}

}
