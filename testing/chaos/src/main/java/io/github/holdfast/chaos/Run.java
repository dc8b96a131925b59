package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

record Run(History history, List<Violation> violations) {

	static Run of(Plan plan) throws InterruptedException {
		History history = Machine.run(plan);
		return new Run(history, Checker.check(history));
	}

	Plan plan() {
		return this.history.plan;
	}

	/** Writes down the plan, what was found, and all that has happened. */
	Path write(Path directory) throws IOException {
		String name = "%s-%s-%d".formatted(plan().target().toString().replace(' ', '-'), Names.print(plan().weather()),
				plan().seed());
		Files.createDirectories(directory);
		List<Object> lines = new ArrayList<>(this.violations);
		this.history.calls.forEach((call) -> lines.add(Journal.JSON.writeValueAsString(call)));
		this.history.sales.values().forEach(lines::addAll);
		Files.write(directory.resolve(name + ".history"), lines.stream().map(Object::toString).toList());
		return Files.writeString(directory.resolve(name + ".plan"), plan().toString());
	}

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
		return "%s, %s, seed %d: %d faults, %s, free after %d ms; violations: %s".formatted(plan().target(),
				Names.print(plan().weather()), plan().seed(), this.history.faults.size(),
				this.history.calls.stream()
					.collect(Collectors.groupingBy(Call::ending, TreeMap::new, Collectors.counting())),
				this.history.freeAfter, summary());
	}

	/**
	 * What is left of a run: the faults that there really were, what the nodes wrote
	 * down, what is in the database, after how many milliseconds all locks were free or
	 * -1, and what was left when no call was.
	 */
	record History(Plan plan, List<Fault> faults, List<Call> calls, Map<String, List<Accounts.Sale>> sales,
			int freeAfter, List<String> leftovers) {

	}

}
