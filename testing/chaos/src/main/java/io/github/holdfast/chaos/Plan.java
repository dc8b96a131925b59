package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * All that happens in a run, as far as it can be said before: what each thread of each
 * node does again and again, and which faults come when. Written as text, it can be read
 * again.
 *
 * @param seed where it comes from
 * @param target what the run is about
 * @param weather which faults may be among them
 * @param leaseTime the lease time of the locks in milliseconds
 * @param duration how many milliseconds the faults come
 * @param autoCommit whether the pools commit statements outside of transactions
 * @param lazy whether connections are fetched for the first statement only
 * @param latency how many milliseconds the networks take in each direction
 * @param programs the steps of each thread, which it repeats until the end
 * @param faults the faults
 */
record Plan(long seed, Target target, Weather weather, int leaseTime, int duration, boolean autoCommit, boolean lazy,
		int latency, List<Program> programs, List<Fault> faults) {

	static final int NODES = 2;

	Plan {
		programs = List.copyOf(programs);
		faults = List.copyOf(faults);
	}

	/**
	 * The same events with another protection.
	 */
	Plan at(Level level) {
		return new Plan(this.seed, this.target.at(level), this.weather, this.leaseTime, this.duration, this.autoCommit,
				this.lazy, this.latency, this.programs, this.faults);
	}

	/**
	 * The same run with fewer events.
	 */
	Plan with(List<Program> fewerPrograms, List<Fault> fewerFaults) {
		return new Plan(this.seed, this.target, this.weather, this.leaseTime, this.duration, this.autoCommit, this.lazy,
				this.latency, fewerPrograms, fewerFaults);
	}

	Plan withLeaseTime(int millis) {
		return new Plan(this.seed, this.target, this.weather, millis, this.duration, this.autoCommit, this.lazy,
				this.latency, this.programs, this.faults);
	}

	/**
	 * The step, or a plain one with the same key where the target does not offer it.
	 */
	Step possible(Step step) {
		return this.target.offers(step.kind()) ? step : new Step(Step.Kind.DECLARATIVE, step.key(), step.think());
	}

	List<Program> programs(int node) {
		return this.programs.stream().filter((program) -> program.node() == node).toList();
	}

	@Override
	public String toString() {
		List<String> lines = new ArrayList<>();
		lines.add("seed " + this.seed);
		lines.add("target " + this.target);
		lines.add("weather " + this.weather);
		lines.add("lease-time " + this.leaseTime);
		lines.add("duration " + this.duration);
		lines.add("auto-commit " + this.autoCommit);
		lines.add("lazy " + this.lazy);
		lines.add("latency " + this.latency);
		this.programs.forEach((program) -> lines.add("program " + program));
		this.faults.forEach((fault) -> lines.add("fault " + fault));
		return String.join("\n", lines) + "\n";
	}

	static Plan parse(String text) {
		return new Plan(Long.parseLong(value(text, "seed")), Target.parse(value(text, "target")),
				Names.parse(Weather.class, value(text, "weather")), Integer.parseInt(value(text, "lease-time")),
				Integer.parseInt(value(text, "duration")), Boolean.parseBoolean(value(text, "auto-commit")),
				Boolean.parseBoolean(value(text, "lazy")), Integer.parseInt(value(text, "latency")),
				values(text, "program").stream().map(Program::parse).toList(),
				values(text, "fault").stream().map(Fault::parse).toList());
	}

	private static String value(String text, String name) {
		List<String> values = values(text, name);
		if (values.size() != 1) {
			throw new IllegalArgumentException("A plan needs one line with '" + name + "', not " + values.size());
		}
		return values.get(0);
	}

	private static List<String> values(String text, String name) {
		return text.lines()
			.map(String::strip)
			.filter((line) -> line.startsWith(name + " "))
			.map((line) -> line.substring(name.length() + 1))
			.toList();
	}

	/**
	 * What one thread of a node does.
	 *
	 * @param node the node
	 * @param thread the number of the thread on its node
	 * @param steps the steps, which it repeats until the end
	 */
	record Program(int node, int thread, List<Step> steps) {

		Program {
			steps = List.copyOf(steps);
		}

		@Override
		public String toString() {
			return "%d %d: %s".formatted(this.node, this.thread,
					this.steps.stream().map(Step::toString).collect(Collectors.joining(", ")));
		}

		static Program parse(String text) {
			String[] parts = text.split(": ", 2);
			String[] place = parts[0].split(" ");
			List<Step> steps = List.of(parts[1].split(", ")).stream().map(Step::parse).toList();
			return new Program(Integer.parseInt(place[0]), Integer.parseInt(place[1]), steps);
		}

	}

}
