package io.github.holdfast.core;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.util.Assert;

import io.github.holdfast.LockRequest;

/**
 * How a call asks for its locks.
 *
 * @param name the name for logs, meters and overrides
 * @param keyPrefix what the stored keys begin with
 * @param mode how the locks are shared
 * @param fair whether waiters on all nodes are served in the order of their arrival
 * @param skips whether a call that finds them busy is skipped on purpose
 * @param times how long to wait and to hold
 * @param body what is known of the body's transaction
 */
public record LockSpec(String name, String keyPrefix, LockRequest.Mode mode, boolean fair, boolean skips, Times times,
		Body body) {

	/** The longest that a clock in nanoseconds can count, in whole days. */
	private static final Duration LONGEST = Duration.ofDays(106_751);

	private static final Duration SHORTEST = Duration.ofMillis(1);

	/** What a {@code LockTemplate} begins with. */
	public static final LockSpec DEFAULT = new LockSpec("LockTemplate", "lock:", LockRequest.Mode.EXCLUSIVE, false,
			false, new Times(Duration.ofSeconds(5), Duration.ofSeconds(30), null, null),
			new Body(null, () -> null, null));

	public LockSpec {
		Assert.hasText(name, "Lock name must not be blank");
		checkTimes(" of lock '" + name + "'", times.waitTime, times.leaseTime, times.maxHoldTime, times.minHoldTime);
	}

	/**
	 * Checks those times that are given. How long to wait and to renew may be forever;
	 * the others are told to a store, or scheduled.
	 * @param of whose times they are, for messages
	 * @param waitTime how long to wait
	 * @param leaseTime how soon others get the lock after this JVM has died
	 * @param maxHoldTime how long leases are renewed
	 * @param minHoldTime how long the lock is held at least
	 */
	public static void checkTimes(String of, @Nullable Duration waitTime, @Nullable Duration leaseTime,
			@Nullable Duration maxHoldTime, @Nullable Duration minHoldTime) {
		Assert.isTrue(waitTime == null || !waitTime.isNegative(), () -> "Wait time" + of + " must not be negative");
		Assert.isTrue(leaseTime == null || leaseTime.compareTo(SHORTEST) >= 0,
				() -> "Lease time" + of + " must be at least 1 ms");
		Assert.isTrue(maxHoldTime == null || maxHoldTime.compareTo(SHORTEST) >= 0,
				() -> "Maximum hold time" + of + " must be at least 1 ms");
		Assert.isTrue(minHoldTime == null || !minHoldTime.isNegative(),
				() -> "Minimum hold time" + of + " must not be negative");
		Assert.isTrue(minHoldTime == null || maxHoldTime == null || minHoldTime.compareTo(maxHoldTime) <= 0,
				() -> "Minimum hold time" + of + " must not be longer than its maximum hold time");
		refuseLonger("Lease time" + of, leaseTime);
		refuseLonger("Minimum hold time" + of, minHoldTime);
	}

	private static void refuseLonger(String what, @Nullable Duration time) {
		Assert.isTrue(time == null || time.compareTo(LONGEST) <= 0,
				() -> what + " must not be longer than " + LONGEST.toDays() + " days");
	}

	public LockSpec withName(String name) {
		return new LockSpec(name, this.keyPrefix, this.mode, this.fair, this.skips, this.times, this.body);
	}

	public LockSpec withKeyPrefix(String keyPrefix) {
		return new LockSpec(this.name, keyPrefix, this.mode, this.fair, this.skips, this.times, this.body);
	}

	public LockSpec withMode(LockRequest.Mode mode) {
		return new LockSpec(this.name, this.keyPrefix, mode, this.fair, this.skips, this.times, this.body);
	}

	public LockSpec withFair(boolean fair) {
		return new LockSpec(this.name, this.keyPrefix, this.mode, fair, this.skips, this.times, this.body);
	}

	public LockSpec withSkips(boolean skips) {
		return new LockSpec(this.name, this.keyPrefix, this.mode, this.fair, skips, this.times, this.body);
	}

	public LockSpec withTimes(Times times) {
		return new LockSpec(this.name, this.keyPrefix, this.mode, this.fair, this.skips, times, this.body);
	}

	public LockSpec withBody(Body body) {
		return new LockSpec(this.name, this.keyPrefix, this.mode, this.fair, this.skips, this.times, body);
	}

	String storedKey(String key) {
		return this.keyPrefix + key;
	}

	/**
	 * The key of a stored id as the caller gave it.
	 */
	String callersKey(String storedKey) {
		return storedKey.startsWith(this.keyPrefix) ? storedKey.substring(this.keyPrefix.length()) : storedKey;
	}

	LockRequest request(String key, Duration waitTime, LockOwner owner, boolean claims) {
		return new LockRequest(storedKey(key), this.name, this.mode, this.fair, waitTime, this.times.leaseTime, owner,
				0, claims);
	}

	/**
	 * How long to wait and to hold.
	 *
	 * @param waitTime how long to wait for all keys together; zero means one attempt
	 * @param leaseTime how soon others get the lock after this JVM has died
	 * @param maxHoldTime how long leases are renewed, or {@code null} for as long as the
	 * body runs
	 * @param minHoldTime how long the lock is held at least, or {@code null} for as long
	 * as the body runs
	 */
	public record Times(Duration waitTime, Duration leaseTime, @Nullable Duration maxHoldTime,
			@Nullable Duration minHoldTime) {

		/**
		 * Whether the locks are held for as long as the body runs, not for shorter or
		 * longer.
		 */
		boolean areForTheBody() {
			return this.maxHoldTime == null && (this.minHoldTime == null || this.minHoldTime.isZero());
		}

		/**
		 * Returns these times with others in their place.
		 * @param waitTime the wait time, or {@code null} for that of these
		 * @param leaseTime the lease time, or {@code null} for that of these
		 * @param maxHoldTime the maximum hold time, or {@code null} for that of these
		 * @param minHoldTime the minimum hold time, or {@code null} for that of these
		 * @return a copy
		 */
		public Times overriddenBy(@Nullable Duration waitTime, @Nullable Duration leaseTime,
				@Nullable Duration maxHoldTime, @Nullable Duration minHoldTime) {
			return new Times((waitTime != null) ? waitTime : this.waitTime,
					(leaseTime != null) ? leaseTime : this.leaseTime,
					(maxHoldTime != null) ? maxHoldTime : this.maxHoldTime,
					(minHoldTime != null) ? minHoldTime : this.minHoldTime);
		}

	}

	/**
	 * What is known of the body's transaction.
	 *
	 * @param propagation how it relates to a running one, or {@code null} if the body
	 * declares none
	 * @param transactionManager supplies its manager, or {@code null} for that of a
	 * running one; asked inside of running transactions only
	 * @param transaction the transaction if the body consists of one, or {@code null} if
	 * it may do more
	 */
	public record Body(@Nullable Propagation propagation,
			Supplier<? extends @Nullable TransactionManager> transactionManager,
			@Nullable BodyTransaction transaction) {

	}

}
