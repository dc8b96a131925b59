package io.github.holdfast.store;

import java.time.Duration;

/**
 * How often others have barged in before one waiter. Touched only while its key is
 * locked.
 */
final class Barging {

	/**
	 * With more of them, the threads on one key get little faster, and their longest
	 * waits much longer.
	 */
	static final int MOST = 8;

	/**
	 * From the first one to the last one. Those who keep a lock for longer gain nothing
	 * by saving the time of a wake-up.
	 */
	static final Duration LONGEST = Duration.ofMillis(2);

	private final long longest;

	private int count;

	private long first;

	/**
	 * Create without any.
	 * @param longest how long after the first one there can be another one
	 */
	Barging(Duration longest) {
		this.longest = longest.toNanos();
	}

	boolean canBeMore() {
		return this.count == 0 || (this.count < MOST && System.nanoTime() - this.first < this.longest);
	}

	void add() {
		if (this.count++ == 0) {
			this.first = System.nanoTime();
		}
	}

}
