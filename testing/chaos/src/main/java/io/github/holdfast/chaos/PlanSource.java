package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * Derives plans from seeds: the same plan from the same seed, target and duration. The
 * events do not depend on the level, so that a control meets the same ones.
 */
final class PlanSource {

	static final List<String> KEYS = List.of("ledger-1", "row-1", "row-2");

	private static final int THREADS = 3;

	private static final int STEPS = 8;

	/** What some programs do is not hidden by what all others can do. */
	private static final int KINDS = 8;

	private static final int MAX_LATENCY = 3;

	private static final int MAX_THINK = 25;

	private static final int MAX_LONG_THINK = 300;

	/** Where nothing but a loss that is none should end a lease. */
	private static final int LONG_LEASE_TIME = 10_000;

	private PlanSource() {
	}

	static Plan plan(long seed, Target target, Weather weather, Duration duration) {
		return plan(seed, target, weather, duration, List.of());
	}

	/**
	 * A plan whose programs do certain things only.
	 * @param wanted what they do, or nothing to let the seed say it
	 */
	static Plan plan(long seed, Target target, Weather weather, Duration duration, List<Step.Kind> wanted) {
		Random random = new Random(seed);
		int millis = (int) duration.toMillis();
		boolean autoCommit = random.nextInt(3) != 0 || wanted.stream().anyMatch(Step.Kind::needsAutoCommit);
		int latency = (random.nextInt(3) == 0) ? 0 : 1 + random.nextInt(MAX_LATENCY);
		List<Plan.Program> programs = programs(random, wanted);
		List<Fault> faults = faults(random, target.backend(), weather, millis);
		return new Plan(seed, target, weather,
				weather.hasShortLeases() ? target.backend().leaseTime() : LONG_LEASE_TIME, millis, autoCommit, latency,
				programs, faults);
	}

	/**
	 * The key that may be taken while another one is held: the next one, or the same if
	 * it is the last.
	 */
	static String next(String key) {
		return KEYS.get(Math.min(KEYS.indexOf(key) + 1, KEYS.size() - 1));
	}

	private static List<Plan.Program> programs(Random random, List<Step.Kind> wanted) {
		List<Step.Kind> kinds = new ArrayList<>(Arrays.asList(Step.Kind.values()));
		Collections.shuffle(kinds, random);
		List<Plan.Program> programs = new ArrayList<>();
		for (int node = 0; node < Plan.NODES; node++) {
			for (int thread = 0; thread < THREADS; thread++) {
				List<Step> steps = new ArrayList<>();
				for (int i = 0; i < STEPS; i++) {
					steps.add(step(random, wanted.isEmpty() ? kinds.subList(0, KINDS) : wanted));
				}
				programs.add(new Plan.Program(node, thread, steps));
			}
		}
		return programs;
	}

	/**
	 * One in four is the plainest call, as it is in applications. A few take long, which
	 * is when others overtake them.
	 */
	private static Step step(Random random, List<Step.Kind> kinds) {
		Step.Kind kind = (random.nextInt(4) == 0) ? Step.Kind.DECLARATIVE : kinds.get(random.nextInt(kinds.size()));
		return new Step(kind, KEYS.get(random.nextInt(KEYS.size())),
				random.nextInt(((random.nextInt(6) == 0) ? MAX_LONG_THINK : MAX_THINK) + 1));
	}

	private static List<Fault> faults(Random random, Backend backend, Weather weather, int duration) {
		List<Fault> faults = new ArrayList<>();
		for (Fault.Place place : weather.places()) {
			Fault.Kind[] kinds = weather.kinds(backend, place).toArray(Fault.Kind[]::new);
			boolean ofNodes = place != Fault.Place.STORE && place != Fault.Place.DATABASE;
			for (int node = 0; kinds.length > 0 && node < (ofNodes ? Plan.NODES : 1); node++) {
				addLane(random, faults, kinds, node, new Pace(backend.leaseTime() * 2, weather.pause()), duration);
			}
		}
		faults.sort(Comparator.comparingInt(Fault::at));
		return faults;
	}

	private static void addLane(Random random, List<Fault> faults, Fault.Kind[] kinds, int node, Pace pace,
			int duration) {
		int at = random.nextInt(1000);
		while (at < duration) {
			Fault.Kind kind = pick(random, kinds);
			// A new process takes its time, and without a context nothing goes on
			if ((kind == Fault.Kind.KILL || kind == Fault.Kind.CONTEXT_PAUSE) && random.nextInt(4) != 0) {
				kind = Fault.Kind.PAUSE;
			}
			int millis = kind.lasts() ? 50 + random.nextInt(pace.longest()) : 0;
			faults.add(new Fault(at, kind, node, millis));
			at += millis + 200 + random.nextInt(pace.pause());
		}
	}

	private static <T> T pick(Random random, T[] values) {
		return Arrays.asList(values).get(random.nextInt(values.length));
	}

	/**
	 * How fast faults follow each other, in milliseconds.
	 *
	 * @param longest the longest one
	 * @param pause the longest time between two of one place
	 */
	private record Pace(int longest, int pause) {

	}

}
