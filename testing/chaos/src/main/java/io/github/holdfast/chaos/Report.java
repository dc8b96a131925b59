package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The figures of a campaign.
 */
final class Report {

	private final long started = System.nanoTime();

	private final Map<String, Figures> rows = new TreeMap<>();

	private final Map<Fault.Kind, Integer> faults = new EnumMap<>(Fault.Kind.class);

	private final String settings;

	private Figures promised = Figures.NONE;

	Report(long seed, int rounds, int lanes, Duration duration) {
		this.settings = "-Dholdfast.chaos.seed=%d -Dholdfast.chaos.rounds=%d -Dholdfast.chaos.lanes=%d ".formatted(seed,
				rounds, lanes) + "-Dholdfast.chaos.seconds=" + duration.toSeconds();
	}

	void add(Run run) {
		Target target = run.history().plan().target();
		boolean promised = target.level() == Level.FENCE;
		this.rows.merge(promised ? target.backend() + " | " + target.database() : "control | " + target.level(),
				run.figures(), Figures::plus);
		if (promised) {
			this.promised = this.promised.plus(run.figures());
			run.history().faults().forEach((fault) -> this.faults.merge(fault.kind(), 1, Integer::sum));
		}
	}

	@Override
	public String toString() {
		StringBuilder page = new StringBuilder(
				"""
						Settings: `%s`

						**At `fence`: %d acknowledged commits under %d faults, %d lost updates.** %d minutes; %d processors, JDK %s.

						| locks | database | runs | faults | commits | lost | order | other | refused | unknown | free after |
						| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
						"""
					.formatted(this.settings, this.promised.commits(), this.promised.faults(),
							this.promised.count(Violation.Kind.LOST_UPDATE),
							Duration.ofNanos(System.nanoTime() - this.started).toMinutes(),
							Runtime.getRuntime().availableProcessors(), System.getProperty("java.version")));
		this.rows.forEach((row, figures) -> page.append("| ").append(row).append(" | ").append(figures).append(" |\n"));
		page.append("| `fence` | all | ").append(this.promised).append(" |\n\nFaults: ");
		return page
			.append(this.faults.entrySet()
				.stream()
				.map((fault) -> fault.getValue() + " " + Names.print(fault.getKey()))
				.collect(Collectors.joining(", ")))
			.append(".\n")
			.toString();
	}

}
