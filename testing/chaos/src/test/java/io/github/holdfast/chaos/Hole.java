package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import org.springframework.util.Assert;

/**
 * A sentence of the rule that is taken out of the library. The first line of its file
 * says which one. Others say on what it is looked for ({@code run:}), by which calls
 * besides the plainest ones ({@code programs:}), under which faults again and again
 * ({@code fault:} and {@code every:}), how long calls think at most ({@code think:}, and
 * {@code multiple:} of how much) and how long leases are ({@code lease:}), or which test
 * of an attack is red with it ({@code test:}). After a line with {@code in:}, lines with
 * a minus are replaced in that file by those with a plus.
 *
 * @param name the name of its file
 * @param lines the lines
 */
public record Hole(String name, List<String> lines) {

	public static final Path SOURCES = Path.of("..", "..", "autoconfigure", "src", "main", "java", "io", "github",
			"holdfast");

	static final Path DIRECTORY = Path.of("src", "test", "holes");

	/** The holes of a directory whose names begin with one of some texts, or all. */
	public static List<Hole> in(Path directory, String... prefixes) throws IOException {
		List<Hole> holes = new ArrayList<>();
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.sorted().toList()) {
				String name = file.getFileName().toString().replace(".hole", "");
				if (prefixes.length == 0 || Stream.of(prefixes).anyMatch(name::startsWith)) {
					holes.add(new Hole(name, Files.readAllLines(file)));
				}
			}
		}
		return holes;
	}

	/** What the lines with a name say. */
	public List<String> values(String name) {
		return this.lines.stream()
			.filter((line) -> line.startsWith(name + ": "))
			.map((line) -> line.substring(name.length() + 2))
			.toList();
	}

	private int number(String name, int otherwise) {
		return values(name).stream().mapToInt(Integer::parseInt).findFirst().orElse(otherwise);
	}

	Plan plan(int attempt, Duration duration) {
		List<String> runs = values("run");
		String[] words = runs.get(attempt % runs.size()).split(" ");
		Target target = new Target(Names.parse(Backend.class, words[0]), Names.parse(Database.class, words[1]),
				Names.parse(Isolation.class, words[2]), Level.FENCE);
		Step.Kind[] kinds = Stream.of(values("programs").get(0).split(" "))
			.map((kind) -> Names.parse(Step.Kind.class, kind))
			.toArray(Step.Kind[]::new);
		Plan plan = PlanSource.plan(attempt + 1, target, Names.parse(Weather.class, words[3]), duration, kinds);
		int think = number("think", 0);
		List<Plan.Program> programs = (think == 0) ? plan.programs()
				: plan.programs()
					.stream()
					.map((program) -> new Plan.Program(program.node(), program.thread(),
							program.steps().stream().map((step) -> step.within(think, number("multiple", 1))).toList()))
					.toList();
		List<Fault> faults = values("fault").isEmpty() ? plan.faults() : faults(plan.duration());
		return plan.with(programs, faults, number("lease", plan.leaseTime()));
	}

	private List<Fault> faults(int duration) {
		return IntStream.iterate(0, (start) -> start < duration, (start) -> start + number("every", 1000))
			.boxed()
			.flatMap((start) -> values("fault").stream().map((line) -> {
				String[] words = line.split(" ");
				return new Fault(start + Integer.parseInt(words[0]), Names.parse(Fault.Kind.class, words[1]),
						Names.parse(Fault.Place.class, words[2]), Integer.parseInt(words[3]),
						Integer.parseInt(words[4]));
			}))
			.toList();
	}

	/** Writes the source files as they are with the hole into a directory. */
	public List<Path> dig(Path directory) throws IOException {
		List<Path> files = new ArrayList<>();
		StringBuilder without = new StringBuilder();
		StringBuilder with = new StringBuilder();
		for (String line : Stream.concat(this.lines.stream(), Stream.of("")).toList()) {
			if (!line.startsWith("+") && !(line.startsWith("-") && with.isEmpty())) {
				replace(files, without, with);
			}
			if (line.startsWith("-")) {
				without.append(line.substring(1)).append("\n");
			}
			else if (line.startsWith("+")) {
				with.append(line.substring(1)).append("\n");
			}
			else if (line.startsWith("in: ")) {
				Path file = directory.resolve(line.substring(4));
				Files.createDirectories(file.getParent());
				files.add(Files.writeString(file, Files.readString(SOURCES.resolve(line.substring(4)))));
			}
		}
		return files;
	}

	private void replace(List<Path> files, StringBuilder without, StringBuilder with) throws IOException {
		if (without.isEmpty()) {
			return;
		}
		Path file = files.get(files.size() - 1);
		String text = Files.readString(file);
		String old = without.toString().stripTrailing();
		Assert.state(text.contains(old) && text.indexOf(old) == text.lastIndexOf(old),
				() -> "Hole " + this.name + ": not once in " + file + ": " + old);
		Files.writeString(file, text.replace(old, with.toString().stripTrailing()));
		without.setLength(0);
		with.setLength(0);
	}

	/** Compiles source files with the class path of this JVM into a directory. */
	public static void compile(String name, List<Path> files, Path directory) {
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-parameters", "-nowarn", "-cp",
				System.getProperty("java.class.path"), "-d", directory.toString()));
		files.forEach((file) -> arguments.add(file.toString()));
		int result = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
		Assert.state(result == 0, () -> "Hole " + name + " does not compile");
	}

}
