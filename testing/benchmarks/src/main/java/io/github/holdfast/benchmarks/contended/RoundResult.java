package io.github.holdfast.benchmarks.contended;

import java.util.List;

import io.github.holdfast.benchmarks.contended.Load.LoadResult;

/**
 * What one contender has done in one round.
 *
 * @param rate calls per second, of all JVMs
 * @param p50 the time in milliseconds within which half of the calls ended
 * @param p99 that within which 99 of 100 ended
 * @param cpu the processor time per call in microseconds, of all JVMs
 * @param smallestShare the part of the calls that the JVM with the fewest has made
 */
record RoundResult(double rate, double p50, double p99, double cpu, double smallestShare) {

	static RoundResult of(List<LoadResult> jvms) {
		Latencies latencies = new Latencies();
		jvms.forEach((jvm) -> latencies.add(jvm.latencies()));
		double rate = jvms.stream().mapToDouble(LoadResult::rate).sum();
		double cpu = jvms.stream().mapToDouble(LoadResult::cpuNanos).sum() / 1e3 / Math.max(1, latencies.count());
		double smallest = jvms.stream().mapToDouble(LoadResult::rate).min().orElseThrow();
		return new RoundResult(rate, latencies.percentile(0.5), latencies.percentile(0.99), cpu,
				(rate > 0) ? smallest / rate : 0);
	}

}
