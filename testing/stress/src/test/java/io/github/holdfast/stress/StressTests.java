package io.github.holdfast.stress;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.TestList;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs all stress tests. None of them may see what is forbidden. Each has a control, a
 * twin with a mistake, and that one has to see it.
 */
class StressTests {

	private static final String CONTROL = "Control";

	/** Those that jcstress has been asked for. */
	private static final String TESTS = System.getProperty("holdfast.stress.tests", ".*");

	private static final String ITERATIONS = System.getProperty("holdfast.stress.iterations", "1");

	/**
	 * Threads seldom meet on a machine that has much other work, so what is not seen is
	 * looked for again.
	 */
	private static final int MORE_ROUNDS = 10;

	private static final String MORE_ITERATIONS = "10";

	@TestFactory
	Stream<DynamicTest> onlyControlsSeeWhatIsForbidden() throws Exception {
		List<String> tests = TestList.tests().stream().filter((test) -> test.matches(TESTS)).sorted().toList();
		Map<String, List<TestResult>> results = run(TESTS, ITERATIONS);
		for (int round = 1; round <= MORE_ROUNDS; round++) {
			String blind = tests.stream()
				.filter((test) -> isControl(test) && !sees(results.getOrDefault(test, List.of())))
				.collect(Collectors.joining("|"));
			if (blind.isEmpty()) {
				break;
			}
			run(blind, MORE_ITERATIONS).forEach((test, more) -> results.merge(test, more, StressTests::concat));
		}
		return tests.stream().map((test) -> DynamicTest.dynamicTest(shortName(test), () -> {
			assertThat(TestList.tests()).contains(isControl(test) ? real(test) : test + CONTROL);
			judge(test, results.getOrDefault(test, List.of()));
		}));
	}

	/**
	 * Each test runs on several JVMs, which compile in different ways.
	 */
	private static Map<String, List<TestResult>> run(String tests, String iterations) throws Exception {
		Options options = new Options(
				new String[] { "-t", tests, "-m", "quick", "-iters", iterations, "-sc", "false", "-af", "NONE" });
		assertThat(options.parse()).isTrue();
		try {
			new JCStress(options).run();
		}
		catch (AssertionError ex) {
			// Told below, for each test
		}
		InProcessCollector collector = new InProcessCollector();
		DiskReadCollector reader = new DiskReadCollector(options.getResultFile(), collector);
		reader.dump();
		reader.close();
		return collector.getTestResults()
			.stream()
			.collect(Collectors.groupingBy(TestResult::getName, HashMap::new, Collectors.toList()));
	}

	private static void judge(String test, List<TestResult> results) {
		Map<String, Long> counts = new TreeMap<>();
		Map<Expect, Long> seen = new EnumMap<>(Expect.class);
		List<String> failures = new ArrayList<>();
		for (TestResult result : results) {
			if (result.status() != Status.NORMAL) {
				failures.add(result.status() + " " + result.getConfig().jvmArgs + " " + result.getMessages());
			}
			result.grading().gradingResults.values().forEach((outcome) -> {
				counts.merge(outcome.id + " " + outcome.expect, outcome.count, Long::sum);
				seen.merge(outcome.expect, outcome.count, Long::sum);
			});
		}
		System.out.println(shortName(test) + " on " + results.size() + " JVMs: " + counts);
		assertThat(results).as("runs").isNotEmpty();
		assertThat(failures).isEmpty();
		assertThat(seen.getOrDefault(Expect.FORBIDDEN, 0L)).as("forbidden: %s", counts).isZero();
		assertThat(seen.getOrDefault(Expect.UNKNOWN, 0L)).as("not described: %s", counts).isZero();
		if (isControl(test)) {
			assertThat(seen.getOrDefault(Expect.ACCEPTABLE_INTERESTING, 0L))
				.as("what is forbidden without the mistake: %s", counts)
				.isPositive();
		}
	}

	private static boolean sees(List<TestResult> results) {
		return results.stream()
			.flatMap((result) -> result.grading().gradingResults.values().stream())
			.anyMatch((outcome) -> outcome.expect == Expect.ACCEPTABLE_INTERESTING && outcome.count > 0);
	}

	private static List<TestResult> concat(List<TestResult> some, List<TestResult> more) {
		return Stream.concat(some.stream(), more.stream()).toList();
	}

	private static boolean isControl(String test) {
		return test.endsWith(CONTROL);
	}

	private static String real(String control) {
		return control.substring(0, control.length() - CONTROL.length());
	}

	private static String shortName(String test) {
		return test.replaceFirst("^[a-z.]+\\.", "");
	}

}
