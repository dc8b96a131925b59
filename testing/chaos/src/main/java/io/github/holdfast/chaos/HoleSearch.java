package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.springframework.util.Assert;

/**
 * Looks for a hole that was put into the library, see {@code chaos/holes}. The file of
 * the hole says on what to run, in lines of
 * {@code run: backend database isolation weather}, and may name the calls that programs
 * are to make besides the plainest ones, in a line of {@code programs:}. Lines of
 * {@code fault:} replace those of the weather, again and again after {@code every:}
 * milliseconds, and {@code think:} says how long calls think at most.
 */
final class HoleSearch {

	private static final Duration RUN_TIME = Duration.ofSeconds(15);

	private static final String RUN = "run: ";

	private static final String PROGRAMS = "programs: ";

	private static final String FAULT = "fault: ";

	private static final String EVERY = "every: ";

	private static final String THINK = "think: ";

	private final List<String> runs;

	private final List<Step.Kind> programs;

	private final List<Fault> faults;

	private final int every;

	private final int think;

	private HoleSearch(String hole) {
		this.runs = values(hole, RUN).toList();
		this.programs = values(hole, PROGRAMS).flatMap((kinds) -> Stream.of(kinds.split(" ")))
			.map((kind) -> Names.parse(Step.Kind.class, kind))
			.toList();
		this.faults = values(hole, FAULT).map(Fault::parse).toList();
		this.every = number(hole, EVERY);
		this.think = number(hole, THINK);
		Assert.isTrue(this.faults.isEmpty() || this.every > 0, "Faults need a line of 'every:'");
	}

	private static int number(String hole, String name) {
		return values(hole, name).mapToInt(Integer::parseInt).findFirst().orElse(0);
	}

	private static Stream<String> values(String hole, String name) {
		return hole.lines().filter((line) -> line.startsWith(name)).map((line) -> line.substring(name.length()));
	}

	/**
	 * Looks for a hole.
	 * @param args the file of the hole, where to write the answer, and how many runs to
	 * make at most
	 */
	public static void main(String[] args) throws IOException, InterruptedException {
		try {
			HoleSearch search = new HoleSearch(Files.readString(Path.of(args[0])));
			Files.writeString(Path.of(args[1]), search.run(Integer.parseInt(args[2])) + "\n");
		}
		catch (RuntimeException | AssertionError ex) {
			// Threads of the servers would keep this JVM alive
			ex.printStackTrace();
			System.exit(1);
		}
		System.exit(0);
	}

	private String run(int attempts) throws InterruptedException {
		for (int i = 0; i < attempts; i++) {
			Run run = run(this.runs.get(i % this.runs.size()), i + 1);
			System.out.println(run);
			if (!run.violations().isEmpty()) {
				run.violations().stream().limit(3).forEach(System.out::println);
				return "%d s | %s, %s | %s".formatted(RUN_TIME.multipliedBy(i + 1L).toSeconds(),
						run.history().plan().target(), run.history().plan().weather(),
						run.violations().get(0).kindName());
			}
		}
		return "not found in " + RUN_TIME.multipliedBy(attempts).toSeconds() + " s | |";
	}

	private Run run(String text, long seed) throws InterruptedException {
		int end = text.lastIndexOf(' ');
		Target target = Target.parse(text.substring(0, end) + " " + Level.FENCE);
		Plan plan = PlanSource.plan(seed, target, Names.parse(Weather.class, text.substring(end + 1)), RUN_TIME,
				this.programs);
		return Run.of(plan.with(programs(plan), faults(plan)));
	}

	private List<Plan.Program> programs(Plan plan) {
		Random random = new Random(plan.seed());
		return (this.think == 0) ? plan.programs()
				: plan.programs()
					.stream()
					.map((program) -> new Plan.Program(program.node(), program.thread(),
							program.steps()
								.stream()
								.map((step) -> new Step(step.kind(), step.key(), random.nextInt(this.think + 1)))
								.toList()))
					.toList();
	}

	private List<Fault> faults(Plan plan) {
		return this.faults.isEmpty() ? plan.faults()
				: IntStream.iterate(0, (start) -> start < plan.duration(), (start) -> start + this.every)
					.boxed()
					.flatMap((start) -> this.faults.stream()
						.map((fault) -> new Fault(start + fault.at(), fault.kind(), fault.node(), fault.millis())))
					.filter((fault) -> fault.at() < plan.duration())
					.toList();
	}

}
