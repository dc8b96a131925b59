package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Finds the fewest faults and programs with which a run still fails. Takes out one half
 * of them, then the other one, then quarters, and so on; whatever is not needed stays
 * out.
 */
final class Shrinker {

	private final Check check;

	private Shrinker(Check check) {
		this.check = check;
	}

	/**
	 * Shrinks a plan.
	 * @param plan a plan that has failed
	 * @param check tells whether another one fails, too. As the interleaving is never
	 * quite the same, it should run it more than once before it says no
	 */
	static Plan shrink(Plan plan, Check check) throws Exception {
		Shrinker shrinker = new Shrinker(check);
		List<Fault> faults = shrinker.fewest(plan.faults(), (fewer) -> plan.with(plan.programs(), fewer));
		List<Plan.Program> programs = shrinker.fewest(plan.programs(), (fewer) -> plan.with(fewer, faults));
		return plan.with(programs, faults);
	}

	private <T> List<T> fewest(List<T> all, Function<List<T>, Plan> plan) throws Exception {
		List<T> needed = all;
		for (int size = all.size(); size > 0; size /= 2) {
			int from = 0;
			while (from < needed.size()) {
				List<T> rest = new ArrayList<>(needed);
				rest.subList(from, Math.min(from + size, needed.size())).clear();
				if (this.check.fails(plan.apply(rest))) {
					needed = rest;
				}
				else {
					from += size;
				}
			}
		}
		return needed;
	}

	/**
	 * Tells whether something is found in a run.
	 */
	@FunctionalInterface
	interface Check {

		boolean fails(Plan plan) throws Exception;

	}

}
