package io.github.holdfast.lab;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How far a run is.
 *
 * @param strategy the strategy that is going on
 * @param atMs when, since its first order
 * @param stock how many pieces the row says are left
 * @param answered how many orders were answered
 * @param sold how many were sold
 * @param refused how many were refused
 * @param failed how many were neither
 * @param nodes how the nodes are
 */
record Progress(String strategy, long atMs, long stock, int answered, int sold, int refused, int failed,
		List<NodeProgress> nodes) {

	/**
	 * How far a node is.
	 *
	 * @param id its number
	 * @param state how it is
	 * @param sold how many orders it has sold
	 * @param stock the stock that it has left behind last
	 */
	record NodeProgress(int id, NodeView.State state, int sold, @Nullable Long stock) {
	}

}
