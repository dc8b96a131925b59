package io.github.holdfast.store;

import java.time.Duration;
import java.util.function.Predicate;

import org.springframework.util.Assert;

/**
 * How long the threads of this JVM may pass a lock on among themselves before it is given
 * back to the store, so that other JVMs get their turn.
 *
 * @param maxTurns the most holders in a row while others wait, from 0 to 255; with 0 or 1
 * a lock is never handed over
 * @param maxTime the longest time after the store has granted the lock at which it is
 * still handed over
 * @param names tells by the name of a lock whether it may be handed over at all
 * @since 0.2.0
 */
public record HandoverLimits(int maxTurns, Duration maxTime, Predicate<String> names) {

	/**
	 * 16 turns and 100 ms, for all locks.
	 */
	public static final HandoverLimits DEFAULT = new HandoverLimits(16, Duration.ofMillis(100), (name) -> true);

	/**
	 * The most holders of one grant: their number is a byte of the token.
	 */
	static final int MOST_TURNS = 256;

	public HandoverLimits {
		Assert.isTrue(maxTurns >= 0 && maxTurns < MOST_TURNS, "The number of turns must be from 0 to 255");
		Assert.isTrue(!maxTime.isNegative(), "The time of handing over must not be negative");
	}

}
