package io.github.holdfast.lab;

/**
 * What has come of the orders. Everything about the stock is from the database.
 *
 * @param stockAfter how many the row says are left
 * @param reallyLeft how many are left after all that was sold; negative if it is oversold
 * @param lostUpdates how many sales were overwritten, each of which counts once
 * @param saved how many sales the commits that were refused would have overwritten
 */
record Facts(int orders, int answered, long sold, int refused, int busy, int lost, int failed, long stockBefore,
		long stockAfter, long reallyLeft, long oversold, long lostUpdates, long saved, double throughput, double p50Ms,
		double p99Ms, long durationMs) {
}
