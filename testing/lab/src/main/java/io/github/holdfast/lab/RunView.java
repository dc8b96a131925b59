package io.github.holdfast.lab;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A run, as it is shown.
 *
 * @param id its number
 * @param strategy the strategy, or {@code all}
 * @param state how far it is
 * @param request what was asked for
 * @param nodes the nodes that it uses
 * @param facts what has come of it; with {@code all}, of the strategy that is going on
 * @param verdict what is to be said about it; none with {@code all}
 * @param faults what was done to it
 * @param results with {@code all}, what has come of each strategy
 * @param message why it has failed
 */
record RunView(String id, String strategy, State state, RunRequest request, List<NodeView> nodes, @Nullable Facts facts,
		@Nullable Verdict verdict, List<Fault> faults, List<Result> results, @Nullable String message) {

	/**
	 * How far a run is.
	 */
	enum State {

		/** Its nodes are starting. */
		STARTING,

		/** Orders are sent. */
		RUNNING,

		/** All orders are answered. */
		FINISHED,

		/** It could not be done. */
		FAILED,

		/** Somebody did not want to wait. */
		CANCELLED;

		boolean isEnd() {
			return this != STARTING && this != RUNNING;
		}

	}

	/**
	 * What has come of one of several strategies.
	 *
	 * @param strategy the strategy
	 * @param facts what has come of it
	 * @param verdict what is to be said about it
	 */
	record Result(String strategy, Facts facts, Verdict verdict) {
	}

}
