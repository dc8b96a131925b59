package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A run that has ended.
 *
 * @param history what is left of it
 * @param violations what was found there
 */
record Run(History history, List<Violation> violations) {

	/**
	 * Runs a plan and looks for violations.
	 */
	static Run of(Plan plan) throws InterruptedException {
		History history = Machine.run(plan);
		return new Run(history, Checker.check(history));
	}

	Figures figures() {
		return Figures.of(this.history, this.violations);
	}

	/**
	 * Writes down the plan, which can be run again, what was found, and all that has
	 * happened.
	 * @return the file of the plan
	 */
	Path write(Path directory) throws IOException {
		Plan plan = this.history.plan();
		String name = "%s-%s-%d".formatted(plan.target().toString().replace(' ', '-'), plan.weather(), plan.seed());
		Files.createDirectories(directory);
		Path file = Files.writeString(directory.resolve(name + ".plan"), plan.toString());
		List<String> lines = new ArrayList<>();
		this.violations.forEach((violation) -> lines.add(violation.toString()));
		this.history.calls().forEach((call) -> lines.add(call.toString()));
		this.history.sales().values().forEach((sales) -> sales.forEach((sale) -> lines.add(sale.toString())));
		Files.write(directory.resolve(name + ".history"), lines);
		return file;
	}

	/**
	 * How many violations there are of each kind.
	 */
	String summary() {
		return this.violations.stream()
			.collect(Collectors.groupingBy(Violation::kind, TreeMap::new, Collectors.counting()))
			.entrySet()
			.stream()
			.map((kind) -> kind.getValue() + " " + Names.print(kind.getKey()))
			.collect(Collectors.joining(", "));
	}

	@Override
	public String toString() {
		Plan plan = this.history.plan();
		Figures figures = figures();
		return "%s, %s, seed %d: %d faults, %s, %d commits, free after %d ms; violations: %s".formatted(plan.target(),
				plan.weather(), plan.seed(), figures.faults(),
				this.history.calls()
					.stream()
					.collect(Collectors.groupingBy(Call::ending, TreeMap::new, Collectors.counting())),
				figures.commits(), figures.freeAfter(), summary());
	}

}
