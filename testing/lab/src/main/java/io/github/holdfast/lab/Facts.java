package io.github.holdfast.lab;

/**
 * What has come of the orders. Everything about the stock is from the database.
 *
 * @param orders how many were to be sent
 * @param answered how many were answered
 * @param sold how many were sold
 * @param refused how many were refused, because there was not enough stock
 * @param busy how many waited without success
 * @param lost how many lost their lock and were rolled back
 * @param failed how many failed
 * @param stockBefore how many pieces there were
 * @param stockAfter how many the row says are left
 * @param reallyLeft how many are left after all that was sold; negative if it is oversold
 * @param oversold how many pieces were sold that did not exist
 * @param lostUpdates how many sales were overwritten, each of which counts once
 * @param saved how many sales the commits that were refused would have overwritten
 * @param throughput how many orders were answered in a second
 * @param p50Ms how long an order took, half of them at most
 * @param p99Ms how long an order took, all but one of a hundred
 * @param durationMs how long all took
 */
record Facts(int orders, int answered, long sold, int refused, int busy, int lost, int failed, long stockBefore,
		long stockAfter, long reallyLeft, long oversold, long lostUpdates, long saved, double throughput, double p50Ms,
		double p99Ms, long durationMs) {
}
