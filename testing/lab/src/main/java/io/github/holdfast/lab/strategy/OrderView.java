package io.github.holdfast.lab.strategy;

import org.jspecify.annotations.Nullable;

/**
 * An order, as it is shown. Times are in microseconds since the strategy's first order.
 *
 * @param readChanges the number of the last change that it has read: the database numbers
 * the changes of each SKU
 * @param wroteChanges the number of its own change, when the run is over
 * @param overtakenBy how many sales were committed between its read and its commit that
 * was refused
 */
public record OrderView(int n, String strategy, int node, @Nullable String thread, Outcome outcome, boolean starved,
		@Nullable Long read, @Nullable Long wrote, @Nullable Long readChanges, @Nullable Long wroteChanges,
		@Nullable Long overtakenBy, long start, @Nullable Long acquired, @Nullable Long begin, @Nullable Long readAt,
		@Nullable Long writeAt, @Nullable Long commit, @Nullable Long released, long end, @Nullable String message) {

	public static OrderView unanswered(int n, String strategy, int node, long start, long end, String message) {
		return new OrderView(n, strategy, node, null, Outcome.FAILED, false, null, null, null, null, null, start, null,
				null, null, null, null, null, end, message);
	}

	/** The same order with what the database has stored. */
	public OrderView sold(@Nullable Long read, long wrote, @Nullable Long readChanges, long wroteChanges) {
		return new OrderView(this.n, this.strategy, this.node, this.thread, this.outcome, this.starved, read, wrote,
				readChanges, wroteChanges, this.overtakenBy, this.start, this.acquired, this.begin, this.readAt,
				this.writeAt, this.commit, this.released, this.end, this.message);
	}

	/** What became of an order. */
	public enum Outcome {

		SOLD, REFUSED,

		/** Others were quicker, for as long as it waited. */
		BUSY,

		/** Its lock was lost, so it was rolled back. */
		LOST,

		/**
		 * Something else went wrong: the pool had no connection for it, or its node died.
		 */
		FAILED

	}

}
