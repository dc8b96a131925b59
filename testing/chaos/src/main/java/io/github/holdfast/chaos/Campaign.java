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

/**
 * The long run: in each round every backend on every database, at an isolation level and
 * in a weather that change from round to round, and some of the same plans with less
 * protection.
 */
final class Campaign {

	private static final List<Weather> WEATHERS = List.of(Weather.STORM, Weather.SERVERS, Weather.PROCESSES,
			Weather.NETWORK, Weather.SESSIONS, Weather.STORM, Weather.CALM);

	private static final List<Isolation> ISOLATIONS = List.of(Isolation.READ_COMMITTED, Isolation.REPEATABLE_READ,
			Isolation.READ_COMMITTED, Isolation.SNAPSHOT, Isolation.SERIALIZABLE);

	private final long seed;

	private final Duration duration;

	private final Path directory;

	private final Report report;

	private final List<String> found = new ArrayList<>();

	private Campaign(long seed, int rounds, int lanes, Duration duration, Path directory) {
		this.seed = seed;
		this.duration = duration;
		this.directory = directory;
		this.report = new Report(seed, rounds, lanes, duration);
	}

	/**
	 * Runs some rounds.
	 * @param args the seed, how many rounds, how many plans at the same time, and the
	 * seconds of each
	 */
	public static void main(String[] args) throws InterruptedException {
		List<String> found = run(Long.parseLong(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]),
				Duration.ofSeconds(Long.parseLong(args[3])), Path.of("target", "runs"));
		found.forEach(System.out::println);
		System.exit(found.isEmpty() ? 0 : 1);
	}

	/**
	 * Runs some rounds and writes a report after each run.
	 * @param seed where all plans come from
	 * @param rounds how many
	 * @param lanes how many plans run at the same time
	 * @param duration how long each plan is
	 * @param directory where to write the report and what is left of the runs
	 * @return what was found at {@code fence}
	 */
	static List<String> run(long seed, int rounds, int lanes, Duration duration, Path directory)
			throws InterruptedException {
		Campaign campaign = new Campaign(seed, rounds, lanes, duration, directory);
		ExecutorService threads = Executors.newFixedThreadPool(lanes);
		try {
			List<Callable<Void>> runs = new ArrayList<>();
			for (int round = 0; round < rounds; round++) {
				campaign.plans(round).forEach((plan) -> runs.add(() -> campaign.run(plan)));
			}
			for (Future<Void> run : threads.invokeAll(runs)) {
				run.get();
			}
			return campaign.found;
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			threads.shutdownNow();
		}
	}

	private List<Plan> plans(int round) {
		List<Plan> plans = new ArrayList<>();
		for (Backend backend : Backend.values()) {
			for (Database database : Database.values()) {
				int turn = round * 5 + plans.size();
				Target target = new Target(backend, database, turn(ISOLATIONS, turn + round), Level.FENCE);
				plans.add(PlanSource.plan(this.seed * 1000 + turn, target, turn(WEATHERS, turn), this.duration));
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
			add(run, run.write(this.directory));
		}
		catch (IllegalStateException | AssertionError ex) {
			fail(plan, ex);
		}
		return null;
	}

	private synchronized void add(Run run, Path file) throws IOException {
		this.report.add(run);
		System.out.println(run);
		if (run.history().plan().target().level() == Level.FENCE) {
			run.violations().forEach((violation) -> this.found.add(file + ": " + violation));
		}
		Files.writeString(this.directory.resolve("report.md"), this.report.toString());
	}

	/**
	 * The machine itself has failed, and goes on.
	 */
	private synchronized void fail(Plan plan, Throwable failure) {
		System.out.println(plan.target() + ", " + plan.weather() + ", seed " + plan.seed() + ": " + failure);
		this.found.add("%s could not run: %s\n%s".formatted(plan.target(), failure, plan));
	}

}
