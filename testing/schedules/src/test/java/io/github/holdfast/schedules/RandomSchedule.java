package io.github.holdfast.schedules;

import java.util.List;
import java.util.Random;

/**
 * Lets a thread go on, and another one take its place now and then.
 */
final class RandomSchedule implements Schedule {

	private static final int[] RATES = { 2, 6, 20, 60 };

	private final Random random;

	/** A turn lasts for so many points on average. */
	private final int turn;

	/** Of so many changes, one lets time pass. */
	private final int time;

	RandomSchedule(long seed) {
		this.random = new Random(seed);
		this.turn = RATES[this.random.nextInt(RATES.length)];
		this.time = RATES[this.random.nextInt(RATES.length)];
	}

	@Override
	public Task choose(List<Task> options, boolean goesOn, Task clock) {
		if (goesOn && this.random.nextInt(this.turn) != 0) {
			return options.get(0);
		}
		boolean canPass = options.get(options.size() - 1) == clock;
		if (canPass && this.random.nextInt(this.time) == 0) {
			return clock;
		}
		int others = options.size() - (canPass ? 1 : 0);
		return options.get(this.random.nextInt(others));
	}

	@Override
	public int choose(int size) {
		return this.random.nextInt(size);
	}

}
