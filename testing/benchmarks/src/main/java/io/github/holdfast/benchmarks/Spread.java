package io.github.holdfast.benchmarks;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a value was in several rounds.
 *
 * @param median the middle, or that between the two in the middle
 * @param smallest the smallest
 * @param largest the largest
 */
public record Spread(double median, double smallest, double largest) {

	/**
	 * Returns the spread of some values.
	 */
	public static Spread of(List<Double> values) {
		List<Double> sorted = values.stream().sorted().toList();
		int middle = sorted.size() / 2;
		double median = (sorted.size() % 2 == 1) ? sorted.get(middle)
				: (sorted.get(middle - 1) + sorted.get(middle)) / 2;
		return new Spread(median, Collections.min(values), Collections.max(values));
	}

	/**
	 * Returns the spread of the ratios within each round, as a machine's load differs
	 * from round to round.
	 */
	public static Spread ofRatios(List<Double> values, List<Double> others) {
		return of(IntStream.range(0, values.size()).mapToObj((i) -> values.get(i) / others.get(i)).toList());
	}

}
