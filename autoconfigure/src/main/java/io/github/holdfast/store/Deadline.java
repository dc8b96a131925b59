package io.github.holdfast.store;

import java.time.Duration;

/**
 * A moment on this JVM's monotonic clock, which no change of the wall clock moves.
 */
public final class Deadline {

	/** One that has passed already. */
	public static final Deadline PASSED = after(Duration.ZERO);

	/** Far enough for any wait, near enough that sums of nano times do not overflow. */
	private static final long LONGEST = Long.MAX_VALUE / 4;

	private final long nanoTime;

	private Deadline(long nanoTime) {
		this.nanoTime = nanoTime;
	}

	/**
	 * A deadline that is a duration away from now.
	 * @param duration the duration
	 * @return the deadline
	 */
	public static Deadline after(Duration duration) {
		return new Deadline(System.nanoTime() + nanos(duration));
	}

	private static long nanos(Duration duration) {
		return (duration.getSeconds() < LONGEST / 1_000_000_000) ? duration.toNanos() : LONGEST;
	}

	/**
	 * The time left.
	 * @return nanoseconds, zero once the deadline has passed
	 */
	public long remainingNanos() {
		return Math.max(0, this.nanoTime - System.nanoTime());
	}

	/**
	 * The time left.
	 * @return the duration, zero once the deadline has passed
	 */
	public Duration remaining() {
		return Duration.ofNanos(remainingNanos());
	}

	/**
	 * Whether the deadline has passed.
	 * @return {@code true} if no time is left
	 */
	public boolean hasPassed() {
		return remainingNanos() == 0;
	}

}
