package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The long run: in each round every backend at {@code fence} on one database at one
 * isolation, and with the same plan one of the controls. Writes the report.
 */
final class Campaign {

	private static final Duration RUN_TIME = Duration.ofSeconds(20);

	private static final List<TestDatabase> DATABASES = List.of(TestDatabase.MARIADB, TestDatabase.POSTGRESQL);

	private static final List<Isolation> ISOLATIONS = List.of(Isolation.values());

	private static final List<Weather> WEATHERS = List.of(Weather.CALM, Weather.SERVERS, Weather.PROCESSES,
			Weather.NETWORK);

	private final long seed;

	private final Path directory;

	private final Report report;

	private final List<String> found = new ArrayList<>();

	private Campaign(long seed, int rounds, Path directory) {
		this.seed = seed;
		this.directory = directory;
		this.report = new Report(seed, rounds);
	}

	/**
	 * Runs some rounds and writes the report after each run. Four rounds see each
	 * database at each isolation.
	 * @param seed where all plans come from
	 * @param rounds how many
	 * @param page the file of the report
	 * @param directory where to write what is left of the runs
	 * @return what was found there
	 */
	static List<String> run(long seed, int rounds, Path page, Path directory) throws IOException, InterruptedException {
		Campaign campaign = new Campaign(seed, rounds, directory);
		for (int round = 0; round < rounds; round++) {
			for (Plan plan : campaign.round(round)) {
				campaign.run(plan);
				Files.writeString(page, campaign.report.toString());
			}
		}
		return campaign.found;
	}

	private List<Plan> round(int round) {
		List<Plan> plans = new ArrayList<>();
		Arrays.stream(Backend.values()).filter(Backend::isAvailable).forEach((backend) -> {
			int turn = round + backend.ordinal();
			Target target = new Target(backend, turn(DATABASES, turn), turn(ISOLATIONS, turn / DATABASES.size()),
					Level.FENCE);
			long planSeed = this.seed * 1000 + round;
			Plan storm = PlanSource.plan(planSeed, target, Weather.STORM, RUN_TIME);
			Plan plan = PlanSource.plan(planSeed, target, turn(WEATHERS, turn), RUN_TIME);
			plans.addAll(List.of(storm, plan));
			plans.add(plan.at(turn(backend.controls(), turn)));
		});
		return plans;
	}

	private static <T> T turn(List<T> elements, int turn) {
		return elements.get(turn % elements.size());
	}

	private void run(Plan plan) throws IOException, InterruptedException {
		Run run = Run.of(plan);
		this.report.add(run);
		System.out.println(run);
		Path file = run.write(this.directory);
		if (plan.target().level() == Level.FENCE) {
			run.violations().forEach((violation) -> this.found.add(file + ": " + violation));
		}
	}

}
