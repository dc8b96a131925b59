package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The long run: in each round every backend on every database, at an isolation level and
 * in a weather that change from round to round, and some of the same plans with less
 * protection.
 */
final class Campaign {

	static final List<Weather> WEATHERS = List.of(Weather.STORM, Weather.SERVERS, Weather.PROCESSES, Weather.NETWORK,
			Weather.SESSIONS, Weather.STORM, Weather.CALM);

	static final List<Isolation> ISOLATIONS = List.of(Isolation.READ_COMMITTED, Isolation.REPEATABLE_READ,
			Isolation.READ_COMMITTED, Isolation.SNAPSHOT, Isolation.SERIALIZABLE);

	private static final Path DIRECTORY = Path.of("target", "runs");

	private final List<Weather> weathers;

	private final List<Isolation> isolations;

	private final Report report = new Report();

	private final List<String> found = new ArrayList<>();

	Campaign(List<Weather> weathers, List<Isolation> isolations) {
		this.weathers = weathers;
		this.isolations = isolations;
	}

	/** Runs some rounds, writes a report after each run, and returns what was found. */
	List<String> run(long seed, int rounds, int lanes, Duration duration) throws InterruptedException {
		List<Callable<Void>> runs = new ArrayList<>();
		for (int round = 0; round < rounds; round++) {
			plans(seed, round, duration).forEach((plan) -> runs.add(() -> run(plan)));
		}
		inLanes(lanes, runs);
		return this.found;
	}

	static <T> List<T> inLanes(int lanes, List<Callable<T>> tasks) throws InterruptedException {
		ExecutorService threads = Executors.newFixedThreadPool(lanes);
		try {
			List<T> results = new ArrayList<>();
			for (Future<T> result : threads.invokeAll(tasks)) {
				results.add(result.get());
			}
			return results;
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			threads.shutdownNow();
			threads.awaitTermination(1, TimeUnit.MINUTES);
		}
	}

	private List<Plan> plans(long seed, int round, Duration duration) {
		List<Plan> plans = new ArrayList<>();
		for (Backend backend : Backend.values()) {
			for (Database database : Database.values()) {
				int turn = round * 5 + plans.size();
				Target target = new Target(backend, database, turn(this.isolations, turn + round), Level.FENCE);
				plans.add(PlanSource.plan(seed * 1000 + turn, target, turn(this.weathers, turn), duration));
			}
		}
		plans.add(turn(plans, round * 5).at(Level.NONE));
		plans.add(turn(plans, round * 5 + 2).at(Level.LEASE));
		return plans;
	}

	private static <T> T turn(List<T> elements, int turn) {
		return elements.get(turn % elements.size());
	}

	private Void run(Plan plan) throws IOException, InterruptedException {
		try {
			Run run = Run.of(plan);
			add(run, run.write(DIRECTORY));
		}
		catch (IllegalStateException | AssertionError ex) {
			// The machine itself has failed, and goes on
			synchronized (this) {
				this.found.add("%s could not run: %s\n%s".formatted(plan.target(), ex, plan));
			}
		}
		return null;
	}

	private synchronized void add(Run run, Path file) throws IOException {
		this.report.add(run);
		System.out.println(run);
		if (run.plan().target().level() == Level.FENCE) {
			run.violations().forEach((violation) -> this.found.add(file + ": " + violation));
		}
		Files.writeString(DIRECTORY.resolve("report.md"), this.report.toString());
	}

}
