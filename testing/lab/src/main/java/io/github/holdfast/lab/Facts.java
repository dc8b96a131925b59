package io.github.holdfast.lab;

/**
 * What has come of the orders. What was sold is counted in the database.
 *
 * @param orders how many were to be sent
 * @param answered how many were answered
 * @param sold how many were sold
 * @param refused how many were refused, as there was not enough stock
 * @param busy how many waited in vain
 * @param lost how many lost their lock and were rolled back
 * @param failed how many failed
 * @param stockBefore how many pieces there were
 * @param stockAfter how many the row says are left
 * @param oversold how many pieces were sold that did not exist
 * @param lostUpdates how many sales were overwritten
 * @param throughput how many orders were answered in a second
 * @param p50Ms how long an order took, half of them at most
 * @param p99Ms how long an order took, all but one of a hundred
 * @param durationMs how long all took
 */
record Facts(int orders, int answered, long sold, int refused, int busy, int lost, int failed, long stockBefore,
		long stockAfter, long oversold, long lostUpdates, double throughput, double p50Ms, double p99Ms,
		long durationMs) {
}
