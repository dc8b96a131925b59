package io.github.holdfast.chaos;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

import static org.assertj.core.api.Assertions.assertThat;

/** The tests of attacks in {@code testing/integration}, each without its mend. */
class AttackTests {

	private static final Path DIRECTORY = Path.of("src", "test", "attacks");

	private static final Path TESTS = Path.of("..", "integration", "src", "test", "java", "io", "github", "holdfast",
			"transaction", "attack");

	private static List<Hole> all(String... names) throws IOException {
		List<Hole> holes = Hole.in(Hole.DIRECTORY, names);
		holes.addAll(Hole.in(DIRECTORY, names));
		return holes;
	}

	static List<Hole> holes() throws IOException {
		return Hole.in(DIRECTORY);
	}

	@ParameterizedTest
	@MethodSource("holes")
	void holeFitsTheLibrary(Hole hole, @TempDir Path directory) throws IOException {
		assertThat(hole.dig(directory)).isNotEmpty();
	}

	@Test
	void testsAreThere() throws IOException {
		for (Hole hole : all("")) {
			for (String test : hole.values("test")) {
				String[] names = test.substring(test.indexOf(' ') + 1).split("#");
				assertThat(TESTS.resolve(names[0] + ".java")).content().contains("void " + names[1] + "(");
			}
		}
	}

	@Test
	@Tag("chaos")
	void eachTestOfAnAttackIsRedWithoutItsMend() throws Exception {
		String[] names = System.getProperty("holdfast.chaos.holes", "").split(",");
		List<String> rows = new ArrayList<>();
		for (Hole hole : all(names)) {
			for (String test : hole.values("test")) {
				rows.add("| " + test.replaceFirst(" ", " | ") + " | " + hole.name() + " | " + run(hole, test) + " |");
				System.out.println(rows.get(rows.size() - 1));
			}
		}
		assertThat(rows).isNotEmpty().allMatch((row) -> row.endsWith(" red |"));
	}

	private static String run(Hole hole, String test) throws Exception {
		Path directory = Files.createDirectories(Path.of("target", "attacks", hole.name()));
		Hole.compile(hole.name(), hole.dig(directory.resolve("source")), directory);
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				directory + ":../integration/target/test-classes:" + System.getProperty("java.class.path"),
				AttackTests.class.getName(), test.substring(test.indexOf(' ') + 1))
			.redirectErrorStream(true)
			.redirectOutput(directory.resolve("log").toFile())
			.start();
		return new String[] { "green", "did not run", "red" }[process.waitFor()];
	}

	/** Runs one test in a JVM whose library lacks something. */
	public static void main(String[] args) {
		String place = "io.github.holdfast.transaction.attack.";
		SummaryGeneratingListener results = new SummaryGeneratingListener();
		LauncherFactory.create()
			.execute(LauncherDiscoveryRequestBuilder.request()
				.selectors(DiscoverySelectors.selectMethod(place + args[0] + "(" + place + "Database)"))
				.build(), results);
		results.getSummary().printFailuresTo(new PrintWriter(System.out, true), 5);
		boolean green = results.getSummary().getTestsSucceededCount() > 0;
		System.exit((results.getSummary().getTestsFailedCount() > 0) ? 2 : green ? 0 : 1);
	}

}
