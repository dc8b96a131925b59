package io.github.holdfast.lab;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A run, as it is shown.
 *
 * @param facts what has come of it; with {@code all}, of the strategy that is going on
 * @param results with {@code all}, what has come of each strategy
 */
record RunView(String id, String strategy, State state, RunRequest request, List<NodeView> nodes, @Nullable Facts facts,
		@Nullable Verdict verdict, List<Fault> faults, List<Result> results, @Nullable String message) {

	enum State {

		STARTING, RUNNING, FINISHED, FAILED, CANCELLED;

		boolean isEnd() {
			return this != STARTING && this != RUNNING;
		}

	}

	/**
	 * What has come of one of several strategies.
	 *
	 * @param facts what has come of it
	 */
	record Result(String strategy, Facts facts, Verdict verdict) {
	}

}
