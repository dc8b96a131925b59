package io.github.holdfast.chaos;

import java.util.List;
import java.util.function.Predicate;

/**
 * All that happens in a run, as far as it can be said before. Times are in milliseconds:
 * of leases, until the last fault, and of the networks in each direction. Pools commit
 * statements outside of transactions or not, and fetch connections early or late.
 */
record Plan(long seed, Target target, Weather weather, int leaseTime, int duration, boolean autoCommit, boolean lazy,
		int latency, List<Program> programs, List<Fault> faults) {

	static final int NODES = 2;

	Plan at(Level level) {
		return new Plan(this.seed, this.target.at(level), this.weather, this.leaseTime, this.duration, this.autoCommit,
				this.lazy, this.latency, this.programs, this.faults);
	}

	Plan with(List<Program> otherPrograms, List<Fault> otherFaults, int otherLeaseTime) {
		return new Plan(this.seed, this.target, this.weather, otherLeaseTime, this.duration, this.autoCommit, this.lazy,
				this.latency, otherPrograms, otherFaults);
	}

	/** The step, or a plain one with the same key where the target does not offer it. */
	Step possible(Step step) {
		return this.target.offers(step.kind()) ? step : new Step(Step.Kind.DECLARATIVE, step.key(), step.think());
	}

	boolean needsEntities() {
		return hasAny(Step.Kind::needsEntities);
	}

	boolean hasAny(Predicate<Step.Kind> kinds) {
		return this.programs.stream()
			.flatMap((program) -> program.steps().stream())
			.anyMatch((step) -> kinds.test(step.kind()));
	}

	@Override
	public String toString() {
		return Journal.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
	}

	static Plan parse(String text) {
		return Journal.JSON.readValue(text, Plan.class);
	}

	record Program(int node, int thread, List<Step> steps) {

	}

}
