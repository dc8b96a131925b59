package io.github.holdfast.core;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.holdfast.LockMode;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.util.Assert;

/**
 * How a call takes its locks.
 *
 * @param name the name for logs, meters and overrides
 * @param keyPrefix the text that the stored keys begin with
 * @param mode how the locks are shared
 * @param fair whether the waiters of all nodes are served in the order of their arrival
 * @param skips whether a busy call is skipped on purpose
 * @param enabled whether locks are taken at all
 * @param times how long to wait and to hold
 * @param transaction the transaction that the body declares, or {@code null}
 */
public record LockSettings(String name, String keyPrefix, LockMode mode, boolean fair, boolean skips, boolean enabled,
		Times times, @Nullable BodyTransaction transaction) {

	private static final Duration LONGEST = Duration.ofDays(36_500);

	/** The settings that a {@code LockTemplate} begins with. */
	public static final LockSettings DEFAULT = new LockSettings("LockTemplate", "holdfast:", LockMode.EXCLUSIVE, false,
			false, true, new Times(Duration.ofSeconds(5), Duration.ofSeconds(60), null, null), null);

	public LockSettings {
		Assert.hasText(name, "Lock name must not be blank");
		boolean held = fair || times.maxHoldTime != null || times.minHoldTime != null;
		Assert.isTrue(mode != LockMode.OPTIMISTIC || !held, () -> "Lock '" + name
				+ "' is optimistic, so nothing is held: remove 'fair', 'maxHoldTime' and 'minHoldTime'");
	}

	public LockSettings withName(String name) {
		return new LockSettings(name, this.keyPrefix, this.mode, this.fair, this.skips, this.enabled, this.times,
				this.transaction);
	}

	public LockSettings withKeyPrefix(String keyPrefix) {
		return new LockSettings(this.name, keyPrefix, this.mode, this.fair, this.skips, this.enabled, this.times,
				this.transaction);
	}

	public LockSettings withMode(LockMode mode, boolean fair, boolean skips) {
		return new LockSettings(this.name, this.keyPrefix, mode, fair, skips, this.enabled, this.times,
				this.transaction);
	}

	public LockSettings withTimes(Times times) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.skips, this.enabled, times,
				this.transaction);
	}

	public LockSettings withTransaction(@Nullable BodyTransaction transaction) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.skips, this.enabled, this.times,
				transaction);
	}

	LockSettings overriddenBy(@Nullable Overrides overrides) {
		return (overrides == null) ? this : new LockSettings(this.name, this.keyPrefix, this.mode, this.fair,
				this.skips, overrides.enabled, this.times.overriddenBy(overrides.times), this.transaction);
	}

	/**
	 * Returns the key in the store.
	 * @param key the key as the caller gave it
	 * @return the stored key
	 */
	public String storedKey(String key) {
		return this.keyPrefix + key;
	}

	/**
	 * Returns the key as the caller gave it.
	 * @param storedKey the key in the store
	 * @return the key without the prefix
	 */
	public String callersKey(String storedKey) {
		return storedKey.startsWith(this.keyPrefix) ? storedKey.substring(this.keyPrefix.length()) : storedKey;
	}

	/**
	 * How long to wait and to hold. {@code null} stands for the time of the settings that
	 * these override; for the hold times it also means "as long as the body runs".
	 *
	 * @param waitTime how long to wait for all keys together; zero means one attempt
	 * @param leaseTime how long a lock outlives a process that died
	 * @param maxHoldTime how long leases are renewed at most
	 * @param minHoldTime how long the lock is held at least
	 */
	public record Times(@Nullable Duration waitTime, @Nullable Duration leaseTime, @Nullable Duration maxHoldTime,
			@Nullable Duration minHoldTime) {

		/** Nothing is overridden. */
		public static final Times NONE = new Times(null, null, null, null);

		public Times {
			check("Wait time", waitTime, 0);
			check("Lease time", leaseTime, 1);
			check("Maximum hold time", maxHoldTime, 1);
			check("Minimum hold time", minHoldTime, 0);
			Assert.isTrue(minHoldTime == null || maxHoldTime == null || minHoldTime.compareTo(maxHoldTime) <= 0,
					"Minimum hold time must not be longer than the maximum hold time");
		}

		private static void check(String what, @Nullable Duration time, long shortest) {
			Assert.isTrue(time == null || time.compareTo(Duration.ofMillis(shortest)) >= 0,
					() -> what + " must be at least " + shortest + " ms, but is " + time);
			Assert.isTrue(time == null || time.compareTo(LONGEST) <= 0,
					() -> what + " must not be longer than " + LONGEST.toDays() + " days, but is " + time);
		}

		/**
		 * Returns these times with others in their place.
		 * @param other the times that win where they are given
		 * @return the combination
		 */
		public Times overriddenBy(Times other) {
			return new Times((other.waitTime != null) ? other.waitTime : this.waitTime,
					(other.leaseTime != null) ? other.leaseTime : this.leaseTime,
					(other.maxHoldTime != null) ? other.maxHoldTime : this.maxHoldTime,
					(other.minHoldTime != null) ? other.minHoldTime : this.minHoldTime);
		}

		Duration waitTimeOrDefault() {
			return Duration.ofNanos(waitNanos());
		}

		long waitNanos() {
			return (this.waitTime != null) ? this.waitTime.toNanos() : 0;
		}

		public Duration leaseTimeOrDefault() {
			Duration standard = DEFAULT.times.leaseTime;
			Assert.state(standard != null, "There is a default");
			return (this.leaseTime != null) ? this.leaseTime : standard;
		}

	}

	/**
	 * What the configuration says about the locks of one name.
	 *
	 * @param enabled whether they are taken at all
	 * @param times the times that win over the times of the code
	 */
	public record Overrides(boolean enabled, Times times) {

	}

	/**
	 * The transaction that a locked method declares, by its annotations.
	 *
	 * @param definition propagation, isolation and whether it only reads
	 * @param manager supplies its manager, or {@code null} if that is unknown
	 * @param innermost whether it begins right inside the lock, with no other advice in
	 * between, so that nothing runs before its first statement
	 */
	public record BodyTransaction(TransactionDefinition definition,
			Supplier<? extends @Nullable TransactionManager> manager, boolean innermost) {

		/**
		 * Whether the method leaves a running transaction of its manager.
		 * @return {@code true} for REQUIRES_NEW and NOT_SUPPORTED
		 */
		public boolean suspends() {
			return propagation() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
					|| propagation() == TransactionDefinition.PROPAGATION_NOT_SUPPORTED;
		}

		/**
		 * Whether the method always begins a transaction, unless it joins one.
		 * @return {@code true} for REQUIRED and REQUIRES_NEW
		 */
		public boolean begins() {
			return propagation() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
					|| propagation() == TransactionDefinition.PROPAGATION_REQUIRED;
		}

		private int propagation() {
			return this.definition.getPropagationBehavior();
		}

	}

}
