package io.github.holdfast.benchmarks.contended;

/**
 * What the threads of one JVM have done.
 *
 * @param calls all calls, measured or not
 * @param nanos how long was measured
 * @param cpuNanos the processor time of the JVM while it was measured
 * @param latencies the times of the calls that ended while it was measured
 */
record LoadResult(long calls, long nanos, long cpuNanos, Latencies latencies) {

	double rate() {
		return this.latencies.count() * 1e9 / this.nanos;
	}

	static LoadResult parse(String text) {
		String[] parts = text.split(" ", -1);
		return new LoadResult(Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]),
				Latencies.parse(parts[3]));
	}

	@Override
	public String toString() {
		return this.calls + " " + this.nanos + " " + this.cpuNanos + " " + this.latencies;
	}

}
