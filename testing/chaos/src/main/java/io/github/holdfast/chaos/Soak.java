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
import java.util.function.ToLongFunction;

import io.github.holdfast.testsupport.TestDatabase;

/**
 * The run without faults, for a long time: at full load, or with pauses. Nothing may be
 * lost, and what is used may not grow. Some of the databases are as strict as they can
 * be.
 */
final class Soak {

	private static final List<Target> TARGETS = List.of(
			new Target(Backend.JDBC, TestDatabase.MARIADB, Isolation.SNAPSHOT, Level.FENCE),
			new Target(Backend.REDIS, TestDatabase.POSTGRESQL, Isolation.SERIALIZABLE, Level.FENCE),
			new Target(Backend.REDISSON, TestDatabase.MARIADB, Isolation.REPEATABLE_READ, Level.FENCE),
			new Target(Backend.ZOOKEEPER, TestDatabase.POSTGRESQL, Isolation.READ_COMMITTED, Level.FENCE),
			new Target(Backend.JDBC, TestDatabase.H2, Isolation.SERIALIZABLE, Level.FENCE));

	/** What may come and go with caches and idle connections. */
	private static final double TOLERANCE = 1.2;

	private static final int SPARE_HEAP = 8 * 1024;

	private static final int SPARE = 5;

	private final Plan plan;

	private final List<Usage> usages = new ArrayList<>();

	private final List<Long> sizes = new ArrayList<>();

	private Soak(Plan plan) {
		this.plan = plan;
	}

	/**
	 * Runs all at the same time.
	 * @param seed where the plans come from
	 * @param duration how long
	 * @param full whether nobody rests
	 * @param results the folder to write the figures to
	 * @return what was found
	 */
	static List<String> run(long seed, Duration duration, boolean full, Path results)
			throws IOException, InterruptedException {
		List<Callable<List<String>>> soaks = new ArrayList<>();
		List<String> rows = new ArrayList<>();
		for (Target target : TARGETS) {
			Plan plan = PlanSource.plan(seed, target, Weather.CALM, duration);
			Soak soak = new Soak(full ? plan.withoutRest() : plan);
			soaks.add(() -> soak.observed(rows));
		}
		ExecutorService threads = Executors.newFixedThreadPool(soaks.size());
		List<String> found = new ArrayList<>();
		try {
			for (Future<List<String>> soak : threads.invokeAll(soaks)) {
				found.addAll(soak.get());
			}
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			threads.shutdownNow();
		}
		Files.createDirectories(results);
		Files.writeString(results.resolve(full ? "soak-full.part" : "soak-rest.part"), section(duration, full, rows));
		return found;
	}

	/**
	 * A run that fails, as a server of it does not start, does not take the figures of
	 * the others with it.
	 */
	private List<String> observed(List<String> rows) throws InterruptedException {
		try {
			return run(rows);
		}
		catch (IllegalStateException | AssertionError ex) {
			return List.of(this.plan.target() + " could not run: " + ex);
		}
	}

	private List<String> run(List<String> rows) throws InterruptedException {
		History history = Machine.run(this.plan, this::look);
		List<String> found = new ArrayList<>();
		List<Violation> violations = Checker.check(history);
		List<Violation> refused = violations.stream().filter(this::isOfTheDatabase).toList();
		violations.stream()
			.filter((violation) -> !refused.contains(violation))
			.forEach((violation) -> found.add(this.plan.target() + ": " + violation));
		String used = "%s | %s | %s | %s".formatted(heap(found), threads(found), connections(found), sizes(found));
		String row = "| %s | %d | %d | %d | %s |".formatted(this.plan.target(), history.calls().size(), found.size(),
				refused.size(), used);
		synchronized (rows) {
			rows.add(row);
		}
		return found;
	}

	/**
	 * A serializable transaction fails if others had rows in common with it, also other
	 * rows than those of the lock.
	 */
	private boolean isOfTheDatabase(Violation violation) {
		return this.plan.target().isolation() == Isolation.SERIALIZABLE && violation.kind() == Violation.Kind.FALSE_LOSS
				&& (violation.detail().contains("DATABASE_ERROR") || violation.detail().contains("OUTCOME_UNKNOWN"));
	}

	private void look(Servers servers, List<Node> nodes) throws InterruptedException {
		Usage usage = new Usage(0, 0, 0);
		for (Node node : nodes) {
			usage = usage.plus(node.usage());
		}
		this.usages.add(usage);
		this.sizes.add(servers.size());
	}

	private String heap(List<String> found) {
		return compared(found, "heap", this.usages.stream().map(Usage::heap).toList(), SPARE_HEAP, 1024);
	}

	private String threads(List<String> found) {
		return compared(found, "threads", longs(Usage::threads), SPARE, 1);
	}

	private String connections(List<String> found) {
		return compared(found, "connections", longs(Usage::connections), SPARE, 1);
	}

	private String sizes(List<String> found) {
		return compared(found, "store", this.sizes, SPARE, 1);
	}

	private List<Long> longs(ToLongFunction<Usage> figure) {
		return this.usages.stream().map(figure::applyAsLong).toList();
	}

	/**
	 * Compares the middle one of the second quarter with that of the last one.
	 */
	private String compared(List<String> found, String name, List<Long> figures, int spare, int unit) {
		if (figures.size() < 4) {
			return "-";
		}
		int quarter = figures.size() / 4;
		long before = median(figures.subList(quarter, 2 * quarter));
		long after = median(figures.subList(figures.size() - quarter, figures.size()));
		if (after > before * TOLERANCE + spare) {
			found.add("%s: %s has grown: %s".formatted(this.plan.target(), name, figures));
		}
		return "%d → %d".formatted(before / unit, after / unit);
	}

	private static long median(List<Long> figures) {
		return figures.stream().sorted().skip(figures.size() / 2).findFirst().orElseThrow();
	}

	private static String section(Duration duration, boolean full, List<String> rows) {
		return """
				### %s

				%d minutes; last change of the library: commit %s.

				| run | calls | found | refused | heap | threads | connections | store |
				| --- | --: | --: | --: | --- | --- | --- | --- |
				%s
				""".formatted(full ? "At full load" : "With pauses", duration.toMinutes(), Report.lastChange(),
				String.join("\n", rows.stream().sorted().toList()));
	}

}
