package io.github.holdfast.sample.wms.lab;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sample.wms.lab.strategy.Mishap;

/**
 * What is to be done to a run.
 *
 * @param kind what
 * @param node to which node; the first one, if it is left out
 * @param millis for how long; 4 seconds, if it is left out
 * @param moment at which moment of an order; while it works, if it is left out
 */
record FaultRequest(Fault.@Nullable Kind kind, @Nullable Integer node, @Nullable Integer millis,
		Mishap.@Nullable Moment moment) {

	private static final int MAX_MILLIS = 60_000;

	FaultRequest {
		node = (node != null) ? node : 1;
		millis = (millis != null) ? millis : 4_000;
		moment = (moment != null) ? moment : Mishap.Moment.WORK;
	}

	List<RunRequest.FieldProblem> problems(int nodes) {
		List<RunRequest.FieldProblem> problems = new ArrayList<>();
		if (this.kind == null) {
			problems.add(new RunRequest.FieldProblem("kind", "must be FREEZE, KILL or RESTART_REDIS"));
		}
		if (this.node < 1 || this.node > nodes) {
			problems.add(new RunRequest.FieldProblem("node", "must be a whole number from 1 to " + nodes));
		}
		if (this.millis < 0 || this.millis > MAX_MILLIS) {
			problems.add(new RunRequest.FieldProblem("millis", "must be a whole number from 0 to " + MAX_MILLIS));
		}
		return problems;
	}

}
