package io.github.holdfast.benchmarks;

import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;

import com.sun.management.OperatingSystemMXBean;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Measures the processor time of all threads of the JVM, garbage collection included,
 * which does not grow when other processes take their share of the machine. Reports how
 * many commands a call sends to its store, as counted by the benchmark.
 */
public final class CallProfiler implements InternalProfiler {

	static final String CPU = "cpu.time.norm";

	static final String COMMANDS = "commands.norm";

	/** What a benchmark has counted in this JVM. */
	static volatile double commands = Double.NaN;

	private final OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

	private long start;

	@Override
	public String getDescription() {
		return "Processor time and commands per call";
	}

	@Override
	public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
		this.start = this.system.getProcessCpuTime();
	}

	@Override
	public Collection<ScalarResult> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
			IterationResult result) {
		double nanos = (double) (this.system.getProcessCpuTime() - this.start) / result.getMetadata().getAllOps();
		return List.of(new ScalarResult(CPU, nanos, "ns/op", AggregationPolicy.AVG),
				new ScalarResult(COMMANDS, commands, "commands/op", AggregationPolicy.AVG));
	}

}
