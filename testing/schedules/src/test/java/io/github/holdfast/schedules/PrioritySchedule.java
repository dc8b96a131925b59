package io.github.holdfast.schedules;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Lets the thread with the highest priority go on, which becomes the lowest at a few
 * points.
 *
 * <p>
 * After Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with
 * Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010).
 */
final class PrioritySchedule implements Schedule {

	private static final int MOST_CHANGES = 4;

	private final Random random;

	private final Map<Task, Integer> priorities = new HashMap<>();

	private final Set<Integer> changes = new HashSet<>();

	private final Set<Integer> passes = new HashSet<>();

	private int lowest;

	private int points;

	/**
	 * Create a schedule.
	 * @param length how many points a run has
	 */
	PrioritySchedule(long seed, int length) {
		this.random = new Random(seed);
		int changes = 1 + this.random.nextInt(MOST_CHANGES);
		for (int i = 0; i < changes; i++) {
			this.changes.add(this.random.nextInt(length));
		}
		int passes = this.random.nextInt(MOST_CHANGES);
		for (int i = 0; i < passes; i++) {
			this.passes.add(this.random.nextInt(length));
		}
	}

	@Override
	public Task choose(List<Task> options, boolean goesOn, Task clock) {
		int point = this.points++;
		if (this.passes.contains(point) && options.get(options.size() - 1) == clock) {
			return clock;
		}
		if (goesOn && this.changes.contains(point)) {
			this.priorities.put(options.get(0), --this.lowest);
		}
		Task highest = clock;
		int priority = Integer.MIN_VALUE;
		for (Task option : options) {
			if (option != clock) {
				int other = this.priorities.computeIfAbsent(option, (task) -> 1 + this.random.nextInt(1_000_000));
				if (other > priority) {
					highest = option;
					priority = other;
				}
			}
		}
		return highest;
	}

	@Override
	public int choose(int size) {
		return this.random.nextInt(size);
	}

}
