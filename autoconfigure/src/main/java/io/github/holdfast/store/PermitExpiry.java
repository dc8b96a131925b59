package io.github.holdfast.store;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * When a permit may be taken over, and how soon waiters look at it again.
 */
final class PermitExpiry {

	private static final Supplier<@Nullable Duration> NEVER = () -> null;

	/** The next one who has the permit may have less time. */
	private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

	private static final Supplier<@Nullable Duration> NOT_KNOWN_YET = () -> LONGEST_LOOK;

	private volatile Supplier<@Nullable Duration> remaining = NOT_KNOWN_YET;

	private volatile boolean releasing;

	void after(Supplier<@Nullable Duration> remaining) {
		this.remaining = remaining;
	}

	void never() {
		this.remaining = NEVER;
	}

	/**
	 * Not before the permit is released, which is under way.
	 */
	void byRelease() {
		this.remaining = NOT_KNOWN_YET;
		this.releasing = true;
	}

	boolean isReleasing() {
		return this.releasing;
	}

	boolean hasPassed() {
		Supplier<@Nullable Duration> remaining = this.remaining;
		Duration left = remaining.get();
		return left != null && left.isZero() && this.remaining == remaining;
	}

	/**
	 * When to look again.
	 */
	long nanos() {
		Duration left = this.remaining.get();
		if (left == null) {
			return Long.MAX_VALUE;
		}
		return (left.compareTo(LONGEST_LOOK) < 0) ? left.toNanos() + 1 : LONGEST_LOOK.toNanos();
	}

}
