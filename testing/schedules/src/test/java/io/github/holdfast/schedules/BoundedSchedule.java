package io.github.holdfast.schedules;

import java.util.ArrayList;
import java.util.List;

/**
 * All schedules, one after the other, in which at most so many threads lose their turn
 * while they could go on, or time passes while one of them could.
 *
 * <p>
 * After Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of
 * Multithreaded Programs" (PLDI 2007).
 */
final class BoundedSchedule implements Schedule {

	private final int bound;

	private final List<Choice> path = new ArrayList<>();

	private int position;

	private int spent;

	BoundedSchedule(int bound) {
		this.bound = bound;
	}

	/**
	 * Go on to the next schedule.
	 * @return {@code false} if there is none
	 */
	boolean advance() {
		again();
		while (!this.path.isEmpty()) {
			Choice last = this.path.get(this.path.size() - 1);
			if (last.advance(this.bound)) {
				return true;
			}
			this.path.remove(this.path.size() - 1);
		}
		return false;
	}

	/**
	 * Go through the last schedule once more.
	 */
	void again() {
		this.position = 0;
		this.spent = 0;
	}

	@Override
	public Task choose(List<Task> options, boolean goesOn, Task clock) {
		int freeFrom = goesOn ? 1 : options.size();
		if (!goesOn && options.get(options.size() - 1) == clock) {
			freeFrom--;
		}
		return options.get(choose(options.size(), freeFrom));
	}

	@Override
	public int choose(int size) {
		return choose(size, size);
	}

	private int choose(int size, int free) {
		if (this.position == this.path.size()) {
			this.path.add(new Choice(size, free, this.spent));
		}
		Choice choice = this.path.get(this.position++);
		if (choice.size != size || choice.free != free) {
			throw new AssertionError("Something but the schedule decides how a run goes on");
		}
		this.spent = choice.spent();
		return choice.index;
	}

	private static final class Choice {

		private final int size;

		/** How many of the first ones cost nothing. */
		private final int free;

		private final int spentBefore;

		private int index;

		private Choice(int size, int free, int spentBefore) {
			this.size = size;
			this.free = free;
			this.spentBefore = spentBefore;
		}

		private int spent() {
			return this.spentBefore + ((this.index < this.free) ? 0 : 1);
		}

		private boolean advance(int bound) {
			this.index++;
			return this.index < this.size && spent() <= bound;
		}

	}

}
