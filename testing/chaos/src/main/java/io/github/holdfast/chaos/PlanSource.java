package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/** Derives plans from seeds; the events do not depend on the level. */
final class PlanSource {

	static final List<String> KEYS = List.of("ledger-1", "ledger-2", "row-1", "row-2");

	/** The shortest that there is. */
	static final int LEASE_TIME = 1000;

	/** Where nothing should end a lease. */
	private static final int LONG_LEASE_TIME = 10_000;

	private static final int THREADS = 8;

	/** With more, the calls that are wanted meet less often. */
	private static final int THREADS_FOR_WANTED = 4;

	/** Of each thread, and kinds of it in all, so that none is hidden by all others. */
	private static final int STEPS = 8;

	private PlanSource() {
	}

	/**
	 * A plan, with what is wanted besides the plainest calls, or what the seed decides.
	 */
	static Plan plan(long seed, Target target, Weather weather, Duration duration, Step.Kind... wanted) {
		Random random = new Random(seed);
		int millis = (int) duration.toMillis();
		boolean autoCommit = random.nextInt(3) != 0;
		boolean lazy = random.nextInt(4) == 0;
		int latency = (random.nextInt(3) == 0) ? 1 + random.nextInt(3) : 0;
		List<Plan.Program> programs = programs(random, List.of(wanted));
		return new Plan(seed, target, weather, weather.hasShortLeases() ? LEASE_TIME : LONG_LEASE_TIME, millis,
				autoCommit, lazy, latency, programs, faults(random, target, weather, millis));
	}

	private static List<Plan.Program> programs(Random random, List<Step.Kind> wanted) {
		List<Step.Kind> kinds = new ArrayList<>(Arrays.asList(Step.Kind.values()));
		Collections.shuffle(kinds, random);
		int threads = wanted.isEmpty() ? THREADS : THREADS_FOR_WANTED;
		List<Plan.Program> programs = new ArrayList<>();
		for (int node = 0; node < Plan.NODES; node++) {
			for (int thread = 0; thread < threads; thread++) {
				List<Step> steps = new ArrayList<>();
				for (int i = 0; i < STEPS; i++) {
					steps.add(step(random, wanted.isEmpty() ? kinds.subList(0, STEPS) : wanted));
				}
				programs.add(new Plan.Program(node, thread, steps));
			}
		}
		return programs;
	}

	/**
	 * One in four is the plainest call. A few take long, so that others overtake them.
	 */
	private static Step step(Random random, List<Step.Kind> kinds) {
		Step.Kind kind = (random.nextInt(4) == 0) ? Step.Kind.DECLARATIVE : pick(random, kinds);
		int longest = (random.nextInt(8) == 0) ? 400 : 25;
		return new Step(kind, pick(random, KEYS), random.nextInt(longest + 1));
	}

	private static List<Fault> faults(Random random, Target target, Weather weather, int duration) {
		List<Fault> faults = new ArrayList<>();
		for (Fault.Place place : weather.places) {
			List<Fault.Kind> kinds = Arrays.stream(Fault.Kind.values())
				.filter((kind) -> target.suffers(kind, place))
				.toList();
			for (int node = 0; !kinds.isEmpty() && node < (place.isOfNodes() ? Plan.NODES : 1); node++) {
				int at = random.nextInt(1000);
				while (at < duration) {
					Fault.Kind kind = pick(random, kinds);
					if (kind == Fault.Kind.KILL && random.nextInt(4) != 0) {
						// A new process takes its time
						kind = Fault.Kind.PAUSE;
					}
					int longest = (random.nextInt(3) == 0) ? LEASE_TIME * 2 : LEASE_TIME / 3;
					int millis = kind.lasts() ? 50 + random.nextInt(longest) : 0;
					faults.add(new Fault(at, kind, place, node, millis));
					at += millis + 100 + random.nextInt(weather.pause());
				}
			}
		}
		faults.sort(Comparator.comparingInt(Fault::at));
		return faults;
	}

	private static <T> T pick(Random random, List<T> values) {
		return values.get(random.nextInt(values.size()));
	}

}
