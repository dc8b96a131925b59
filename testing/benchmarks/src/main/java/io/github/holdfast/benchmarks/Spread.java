package io.github.holdfast.benchmarks;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** What a value was in several rounds. The median may lie between two of them. */
public record Spread(double median, double smallest, double largest) {

	public static Spread of(List<Double> values) {
		List<Double> sorted = values.stream().sorted().toList();
		int middle = sorted.size() / 2;
		double median = (sorted.size() % 2 == 1) ? sorted.get(middle)
				: (sorted.get(middle - 1) + sorted.get(middle)) / 2;
		return new Spread(median, Collections.min(values), Collections.max(values));
	}

	/** The spread of the ratios within each round, as the load differs between them. */
	public static Spread ofRatios(List<Double> values, List<Double> others) {
		return of(IntStream.range(0, values.size()).mapToObj((i) -> values.get(i) / others.get(i)).toList());
	}

}
