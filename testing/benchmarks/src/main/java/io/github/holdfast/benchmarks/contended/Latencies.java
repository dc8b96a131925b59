package io.github.holdfast.benchmarks.contended;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Counts of times, in classes that are at most 1.6 % wide. For one thread. */
final class Latencies {

	/** Classes for each power of two, as a number of bits. */
	private static final int BITS = 6;

	private final long[] counts = new long[(Long.SIZE - BITS) << BITS];

	void record(long nanos) {
		this.counts[index(Math.max(0, nanos))]++;
	}

	private static int index(long nanos) {
		int shift = Math.max(0, Long.SIZE - 1 - BITS - Long.numberOfLeadingZeros(nanos | 1));
		return (shift << BITS) + (int) (nanos >>> shift);
	}

	private static long nanos(int index) {
		int shift = Math.max(0, (index >> BITS) - 1);
		return ((index - ((long) shift << BITS) + 1) << shift) - 1;
	}

	void add(Latencies others) {
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] += others.counts[i];
		}
	}

	long count() {
		return IntStream.range(0, this.counts.length).mapToLong((i) -> this.counts[i]).sum();
	}

	/** Returns the time within which a share of the calls ended, in milliseconds. */
	double percentile(double share) {
		long rest = (long) Math.ceil(share * count());
		int index = 0;
		while (index < this.counts.length - 1 && (rest -= this.counts[index]) > 0) {
			index++;
		}
		return nanos(index) / 1e6;
	}

	static Latencies parse(String text) {
		Latencies latencies = new Latencies();
		Stream.of(text.split(","))
			.filter((entry) -> !entry.isEmpty())
			.map((entry) -> entry.split(":"))
			.forEach((entry) -> latencies.counts[Integer.parseInt(entry[0])] = Long.parseLong(entry[1]));
		return latencies;
	}

	@Override
	public String toString() {
		return IntStream.range(0, this.counts.length)
			.filter((i) -> this.counts[i] > 0)
			.mapToObj((i) -> i + ":" + this.counts[i])
			.collect(Collectors.joining(","));
	}

}
