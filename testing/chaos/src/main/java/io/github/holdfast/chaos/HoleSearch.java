package io.github.holdfast.chaos;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Takes sentences of the rule out of the library, one at a time, and looks whether the
 * machine finds that.
 */
final class HoleSearch {

	private static final Duration RUN_TIME = Duration.ofSeconds(15);

	/** Three minutes. */
	private static final int MAX_RUNS = 12;

	private static final String FOUND = "FOUND ";

	private HoleSearch() {
	}

	/**
	 * Looks for one hole that is in the library of this JVM, or for several.
	 * @param args the name of the hole, or how many to look for at the same time and what
	 * their names begin with
	 */
	public static void main(String[] args) throws Exception {
		if (args[0].length() == 1) {
			searchAll(Integer.parseInt(args[0]), Arrays.copyOfRange(args, 1, args.length));
			System.exit(0);
		}
		Hole hole = Hole.all(args[0]).get(0);
		String answer = "not found | |";
		for (int i = 0; answer.startsWith("not") && i < MAX_RUNS; i++) {
			Run run = Run.of(hole.plan(i, RUN_TIME));
			System.out.println(run);
			if (!run.violations().isEmpty()) {
				run.violations().stream().limit(3).forEach(System.out::println);
				Plan plan = run.history().plan();
				answer = "%d s | %s, %s | %s".formatted(RUN_TIME.multipliedBy(i + 1L).toSeconds(), plan.target(),
						plan.weather(), run.summary());
			}
		}
		System.out.println(FOUND + answer);
		System.exit(0);
	}

	/**
	 * Looks for some holes, each in a process that has it.
	 * @param lanes how many at the same time
	 * @param prefixes what their names begin with, or nothing for all
	 * @return the rows of a table
	 */
	static List<String> searchAll(int lanes, String... prefixes) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(lanes);
		try {
			List<Callable<String>> searches = new ArrayList<>();
			Hole.all(prefixes).forEach((hole) -> searches.add(() -> search(hole)));
			List<String> rows = new ArrayList<>();
			for (Future<String> search : threads.invokeAll(searches)) {
				rows.add(search.get());
			}
			return rows;
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static String search(Hole hole) throws Exception {
		Path directory = Files.createDirectories(Path.of("target", "holes", hole.name()));
		hole.compile(directory);
		Path log = directory.resolve("log");
		// No manifest of a jar here: each class path is a list
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
				directory + ":" + System.getProperty("java.class.path"), HoleSearch.class.getName(), hole.name())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start();
		process.waitFor();
		String answer = Files.readAllLines(log)
			.stream()
			.filter((line) -> line.startsWith(FOUND))
			.map((line) -> line.substring(FOUND.length()))
			.findFirst()
			.orElse("failed, see " + log + " | |");
		String row = "| " + hole.sentence() + " | " + answer + " |";
		System.out.println(hole.name() + ": " + row);
		return row;
	}

}
