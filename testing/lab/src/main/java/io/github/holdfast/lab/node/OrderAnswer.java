package io.github.holdfast.lab.node;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.Order;

/**
 * What a node answers to an order.
 *
 * @param node the number of the node
 * @param thread the thread that worked on it
 * @param outcome what became of it
 * @param read the stock that it has read last
 * @param wrote the stock that it has left behind
 * @param readChanges the number of the last change that it has read
 * @param overtakenBy how many sales were committed after it had read, until its own
 * commit was refused
 * @param times when what happened
 * @param starved whether the pool had no connection for it
 * @param message why it was not sold
 */
public record OrderAnswer(int node, String thread, OrderOutcome outcome, @Nullable Long read, @Nullable Long wrote,
		@Nullable Long readChanges, @Nullable Long overtakenBy, Order.Times times, boolean starved,
		@Nullable String message) {
}
