package io.github.holdfast.lab;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.node.OrderAnswer;
import io.github.holdfast.lab.node.OrderOutcome;
import io.github.holdfast.lab.strategy.Order;

/**
 * An order, as it is shown. Times are in microseconds since the strategy's first order.
 *
 * @param n its number, from 1 on
 * @param strategy the strategy that sold it
 * @param node the node that it was sent to
 * @param thread the thread that worked on it
 * @param outcome what became of it
 * @param read the stock that it has read last
 * @param wrote the stock that it has left behind
 * @param readChanges the number of the last change that it has read: the database numbers
 * the changes of each SKU
 * @param wroteChanges the number of its own change, when the run is over
 * @param overtakenBy how many sales were committed between its read and its commit that
 * was refused
 * @param start when it arrived
 * @param acquired when its lock was acquired
 * @param begin when its transaction began
 * @param readAt when it had read the stock
 * @param writeAt when it had written the stock
 * @param commit when its transaction was committed
 * @param released when its lock was given back
 * @param end when it was answered
 * @param message why it was not sold
 */
record OrderView(int n, String strategy, int node, @Nullable String thread, OrderOutcome outcome, @Nullable Long read,
		@Nullable Long wrote, @Nullable Long readChanges, @Nullable Long wroteChanges, @Nullable Long overtakenBy,
		long start, @Nullable Long acquired, @Nullable Long begin, @Nullable Long readAt, @Nullable Long writeAt,
		@Nullable Long commit, @Nullable Long released, long end, @Nullable String message) {

	static OrderView of(int n, String strategy, OrderAnswer answer, long origin) {
		Order.Times times = answer.times();
		return new OrderView(n, strategy, answer.node(), answer.thread(), answer.outcome(), answer.read(),
				answer.wrote(), answer.readChanges(), null, answer.overtakenBy(), times.start() - origin,
				relative(times.acquired(), origin), relative(times.begin(), origin), relative(times.readAt(), origin),
				relative(times.writeAt(), origin), relative(times.commit(), origin), relative(times.released(), origin),
				times.end() - origin, answer.message());
	}

	private static @Nullable Long relative(@Nullable Long time, long origin) {
		return (time != null) ? time - origin : null;
	}

	/**
	 * An order that its node has not answered.
	 */
	static OrderView unanswered(int n, String strategy, int node, long start, long end, String message) {
		return new OrderView(n, strategy, node, null, OrderOutcome.FAILED, null, null, null, null, null, start, null,
				null, null, null, null, null, end, message);
	}

	/**
	 * The same order with what the database has stored, if it was sold.
	 */
	OrderView with(Sales.@Nullable Sale sale) {
		return (sale == null) ? this
				: new OrderView(this.n, this.strategy, this.node, this.thread, this.outcome, sale.readAvailable(),
						sale.wroteAvailable(), sale.readChanges(), sale.wroteChanges(), this.overtakenBy, this.start,
						this.acquired, this.begin, this.readAt, this.writeAt, this.commit, this.released, this.end,
						this.message);
	}

}
