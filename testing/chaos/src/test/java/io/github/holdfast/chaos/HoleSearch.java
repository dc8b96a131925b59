package io.github.holdfast.chaos;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.holdfast.testsupport.ChildJvm;
import org.awaitility.Awaitility;

/** Looks whether the machine finds that a sentence of the rule was taken out. */
final class HoleSearch {

	private static final Duration RUN_TIME = Duration.ofSeconds(15);

	private static final int MAX_RUNS = 24;

	/** With the start of the processes, and what is waited for after the faults. */
	private static final Duration MAX_TIME = Duration.ofMinutes(5);

	private static final String ANSWER = "| ";

	private HoleSearch() {
	}

	/** Looks for one hole that is in the library of this JVM. */
	public static void main(String[] args) throws Exception {
		Hole hole = Hole.in(Hole.DIRECTORY, args[0]).get(0);
		String answer = "not found | |";
		for (int i = 0; answer.startsWith("not") && i < MAX_RUNS; i++) {
			Run run = Run.of(hole.plan(i, RUN_TIME));
			System.out.println(run);
			if (!run.violations().isEmpty()) {
				run.violations().stream().limit(3).forEach(System.out::println);
				answer = "%d s | %s, %s | %s |".formatted(RUN_TIME.multipliedBy(i + 1L).toSeconds(),
						run.plan().target(), Names.print(run.plan().weather()), run.summary());
			}
		}
		System.out.println(ANSWER + hole.lines().get(0) + " | " + answer);
		System.exit(0);
	}

	/** Looks for a hole in a process that has it, and makes a row of a table. */
	static String search(Hole hole) throws Exception {
		Path directory = Files.createDirectories(Path.of("target", "holes", hole.name()));
		Hole.compile(hole.name(), hole.dig(directory.resolve("source")), directory);
		// The paths of the sockets of servers must be short
		List<String> options = List.of("-Xmx512m", "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"), "-cp",
				directory + ":" + System.getProperty("java.class.path"));
		try (ChildJvm process = ChildJvm.start(options, HoleSearch.class, hole.name())) {
			String line = "";
			while (!line.startsWith(ANSWER)) {
				line = process.await("", MAX_TIME);
				System.out.println(hole.name() + ": " + line);
			}
			// It stops its servers
			Awaitility.await().atMost(MAX_TIME).until(() -> !process.isAlive());
			return line;
		}
	}

}
