package io.github.holdfast.benchmarks.overhead;

import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.util.Assert;

/**
 * What each layer adds to a call of one thread that nobody else is in the way of.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 12, time = 1)
@Measurement(iterations = 5, time = 1)
public class CallOverheadBenchmarks {

	private static final int SKUS = 64;

	private final String[] skus = IntStream.range(0, SKUS).mapToObj("SKU-%05d"::formatted).toArray(String[]::new);

	/**
	 * What stands between the caller and the method.
	 */
	@Param
	public CallPath path = CallPath.PLAIN;

	private Stock stock = new Stock();

	private long calls;

	private long deducted;

	/**
	 * Builds the path.
	 */
	@Setup
	public void build() {
		this.stock = this.path.stock();
	}

	/**
	 * One call.
	 * @return what was deducted so far
	 */
	@Benchmark
	public long deduct() {
		this.deducted = this.stock.deduct(this.skus[(int) (this.calls++ % SKUS)], 1);
		return this.deducted;
	}

	/**
	 * Checks that each call has reached the method.
	 */
	@TearDown
	public void check() {
		Assert.state(this.deducted == this.calls, () -> this.calls + " calls, but " + this.deducted + " deducted");
	}

}
