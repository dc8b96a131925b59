package io.github.holdfast.lab;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.Mishap;

/**
 * What is to be done to a run.
 *
 * @param atMs how long after the first order; at once, if it is left out
 * @param millis for how long, or how far a replica lags behind; 4 seconds, if it is left
 * out
 * @param moment at which moment of an order; while it works, if it is left out
 */
record FaultRequest(@Nullable Integer atMs, Fault.@Nullable Kind kind, @Nullable Integer node, @Nullable Integer millis,
		Mishap.@Nullable Moment moment) {

	private static final int MAX_MILLIS = 60_000;

	FaultRequest {
		atMs = (atMs != null) ? atMs : 0;
		node = (node != null) ? node : 1;
		millis = (millis != null) ? millis : 4_000;
		moment = (moment != null) ? moment : Mishap.Moment.WORK;
	}

	/**
	 * What is wrong with it.
	 * @param path where it is in the request: empty, or with a dot at its end
	 */
	List<RunRequest.FieldProblem> problems(int nodes, String path) {
		List<RunRequest.FieldProblem> problems = new ArrayList<>();
		if (this.kind == null) {
			problems.add(new RunRequest.FieldProblem(path + "kind",
					"must be FREEZE, KILL, RESTART_REDIS or PROMOTE_REPLICA"));
		}
		RunRequest.check(path + "atMs", this.atMs, 0, MAX_MILLIS, problems);
		RunRequest.check(path + "node", this.node, 1, nodes, problems);
		RunRequest.check(path + "millis", this.millis, 0, MAX_MILLIS, problems);
		return problems;
	}

}
