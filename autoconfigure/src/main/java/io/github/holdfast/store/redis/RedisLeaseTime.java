package io.github.holdfast.store.redis;

import java.time.Duration;

import org.springframework.util.Assert;

/**
 * Lease times as Redis takes them.
 */
final class RedisLeaseTime {

	/** What Redis can add to its clock without an overflow. */
	private static final Duration MAX = Duration.ofDays(10_000);

	private RedisLeaseTime() {
	}

	/**
	 * A time in milliseconds, rounded up, so that no lease ends in Redis before its
	 * holder knows.
	 * @param duration the time
	 * @return the milliseconds, 1 at least
	 * @throws IllegalArgumentException if it is 10 000 days or more
	 */
	static long millis(Duration duration) {
		Assert.isTrue(duration.compareTo(MAX) < 0, () -> "Lease time must be shorter than " + MAX.toDays() + " days");
		return Math.max(1, duration.plusNanos(999_999).toMillis());
	}

}
