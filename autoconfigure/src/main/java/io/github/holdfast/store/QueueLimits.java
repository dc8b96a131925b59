package io.github.holdfast.store;

import java.util.concurrent.RejectedExecutionException;

import org.springframework.util.Assert;

/**
 * How many threads of this JVM may wait for locks.
 *
 * @param perKey the most threads that wait for one key, at least 1
 * @param total the most threads that wait for any key, at least 1
 * @since 0.2.0
 */
public record QueueLimits(int perKey, int total) {

	/**
	 * 10 000 for one key and 100 000 in total.
	 */
	public static final QueueLimits DEFAULT = new QueueLimits(10_000, 100_000);

	public QueueLimits {
		Assert.isTrue(perKey > 0, "The number of waiters per key must be at least 1");
		Assert.isTrue(total > 0, "The number of waiters in total must be at least 1");
	}

	void check(int waitingForKey, int waiting) {
		if (waitingForKey >= this.perKey) {
			throw new RejectedExecutionException("The most threads that may wait for one key are " + this.perKey);
		}
		if (waiting >= this.total) {
			throw new RejectedExecutionException("The most threads that may wait for locks are " + this.total);
		}
	}

}
