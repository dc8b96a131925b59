package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.github.holdfast.chaos.Violation.Kind;

final class Report {

	private final long started = System.nanoTime();

	private final Map<String, long[]> rows = new TreeMap<>();

	private final Map<Fault.Kind, Integer> faults = new EnumMap<>(Fault.Kind.class);

	void add(Run run) {
		Target target = run.plan().target();
		long[] figures = figures(run);
		if (target.level() == Level.FENCE) {
			add(Names.print(target.backend()) + " | " + Names.print(target.database()), figures);
			add("`fence` | all", figures);
			run.history().faults().forEach((fault) -> this.faults.merge(fault.kind(), 1, Integer::sum));
		}
		else {
			add("control | " + Names.print(target.level()), figures);
		}
	}

	private void add(String row, long[] figures) {
		long[] sums = this.rows.computeIfAbsent(row, (name) -> new long[figures.length]);
		for (int i = 0; i < figures.length; i++) {
			boolean last = i == figures.length - 1;
			sums[i] = last ? Math.max(sums[i], figures[i]) : sums[i] + figures[i];
		}
	}

	private static long[] figures(Run run) {
		Run.History history = run.history();
		long commits = history.calls()
			.stream()
			.flatMap((call) -> call.touches().stream())
			.filter((touch) -> touch.sale() != null && touch.fate() == Touch.Fate.COMMITTED)
			.count();
		long lost = count(run, Kind.LOST_UPDATE::equals);
		long order = count(run, (kind) -> kind == Kind.TOKEN_OUT_OF_ORDER || kind == Kind.COMMIT_AFTER_SUCCESSOR);
		return new long[] { 1, history.faults().size(), commits, lost, order, run.violations().size() - lost - order,
				endings(history, Ending.LOST) + endings(history, Ending.OVERLAP),
				endings(history, Ending.OUTCOME_UNKNOWN), history.freeAfter() };
	}

	private static long count(Run run, Predicate<Kind> kinds) {
		return run.violations().stream().map(Violation::kind).filter(kinds).count();
	}

	private static long endings(Run.History history, Ending ending) {
		return history.calls().stream().filter((call) -> call.ending() == ending).count();
	}

	@Override
	public String toString() {
		StringBuilder page = new StringBuilder(
				"""
						%d minutes; %d processors, JDK %s.

						| locks | database | runs | faults | commits | lost | order | other | refused | unknown | free after (ms) |
						| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
						"""
					.formatted(Duration.ofNanos(System.nanoTime() - this.started).toMinutes(),
							Runtime.getRuntime().availableProcessors(), System.getProperty("java.version")));
		this.rows.forEach((row, figures) -> page.append("| %s | %s |\n".formatted(row,
				Arrays.stream(figures).mapToObj(String::valueOf).collect(Collectors.joining(" | ")))));
		this.faults.forEach((fault, times) -> page.append("\n- ").append(times + " " + Names.print(fault)));
		return page.append("\n").toString();
	}

}
