package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The long run: in each round every backend at {@code fence} on one database at one
 * isolation, in a storm and with one kind of faults, and with the same plan as that one
 * or two controls. Writes the report. Or only the kinds of faults one by one, for longer
 * and without controls, of which it writes one line.
 */
final class Campaign {

	private static final Duration STORM_TIME = Duration.ofSeconds(70);

	private static final Duration RUN_TIME = Duration.ofSeconds(25);

	private static final List<TestDatabase> DATABASES = List.of(TestDatabase.MARIADB, TestDatabase.POSTGRESQL);

	private static final List<Isolation> ISOLATIONS = List.of(Isolation.READ_COMMITTED, Isolation.REPEATABLE_READ);

	private static final List<Weather> WEATHERS = List.of(Weather.CALM, Weather.SERVERS, Weather.PROCESSES,
			Weather.NETWORK, Weather.SESSIONS);

	private final long seed;

	private final int longer;

	private final Path page;

	private final Path directory;

	private final Report report;

	private final List<String> found = new ArrayList<>();

	private Campaign(long seed, int rounds, int lanes, int longer, Path page, Path directory) {
		this.seed = seed;
		this.longer = longer;
		this.page = page;
		this.directory = directory;
		this.report = new Report(seed, rounds, lanes, longer);
	}

	/**
	 * Runs some rounds and writes the report after each run. Four rounds see each
	 * database at each isolation.
	 * @param seed where all plans come from
	 * @param rounds how many
	 * @param lanes how many plans run at the same time
	 * @param longer how many times longer each plan is, without storms and controls, or 0
	 * for the whole campaign
	 * @param page the file of the report, or of its line
	 * @param directory where to write what is left of the runs
	 * @return what was found at {@code fence}
	 */
	static List<String> run(long seed, int rounds, int lanes, int longer, Path page, Path directory)
			throws InterruptedException {
		Campaign campaign = new Campaign(seed, rounds, lanes, longer, page, directory);
		ExecutorService threads = Executors.newFixedThreadPool(lanes);
		try {
			List<Plan> plans = new ArrayList<>();
			for (int round = 0; round < rounds; round++) {
				plans.addAll(campaign.round(round));
			}
			// The longest ones first, so that the lanes end at the same time
			plans.sort(Comparator.comparing(Plan::weather).reversed());
			List<Callable<Void>> runs = plans.stream().<Callable<Void>>map((plan) -> () -> campaign.run(plan)).toList();
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

	private List<Plan> round(int round) {
		List<Plan> plans = new ArrayList<>();
		Arrays.stream(Backend.values()).filter(Backend::isAvailable).forEach((backend) -> {
			int turn = round + backend.ordinal();
			Target target = new Target(backend, turn(DATABASES, turn), turn(ISOLATIONS, turn / DATABASES.size()),
					Level.FENCE);
			long planSeed = this.seed * 1000 + round * 10L + backend.ordinal();
			Plan plan = PlanSource.plan(planSeed, target, turn(WEATHERS, turn),
					RUN_TIME.multipliedBy(Math.max(1, this.longer)));
			plans.add(plan);
			if (this.longer == 0) {
				plans
					.add(PlanSource.plan(planSeed, target, Weather.STORM, STORM_TIME.multipliedBy(backend.patience())));
				controls(plan).forEach((level) -> plans.add(plan.at(level)));
			}
		});
		return plans;
	}

	/**
	 * The levels to compare {@link Level#FENCE} with: {@link Level#LEASE} where leases
	 * are lost or end while their holder stands still.
	 */
	private static List<Level> controls(Plan plan) {
		return switch (plan.weather()) {
			case SERVERS -> List.of(Level.LEASE, Level.UNCHECKED);
			case PROCESSES -> List.of(Level.LEASE, Level.NONE);
			case NETWORK -> List.of(Level.VERIFY);
			default -> List.of(Level.NONE);
		};
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
		Files.writeString(this.page, (this.longer == 0) ? this.report.toString() : this.report.line());
	}

	/**
	 * The machine itself has failed, and goes on.
	 */
	private synchronized void fail(Plan plan, Throwable failure) {
		System.out.println(plan.target() + ", " + plan.weather() + ", seed " + plan.seed() + ": " + failure);
		this.found.add("%s could not run: %s\n%s".formatted(plan.target(), failure, plan));
	}

}
