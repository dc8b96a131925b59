package io.github.holdfast;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.util.Assert;

/**
 * How a {@link LockTemplate} asks for its locks.
 */
record LockSettings(String name, String keyPrefix, LockRequest.Mode mode, boolean fair, Duration waitTime,
		Duration leaseTime, @Nullable Duration maxHoldTime, @Nullable Duration minHoldTime,
		@Nullable Propagation propagation, Supplier<? extends @Nullable TransactionManager> transactionManager,
		@Nullable String transactionName) {

	static final LockSettings DEFAULT = new LockSettings("LockTemplate", "lock:", LockRequest.Mode.EXCLUSIVE, false,
			Duration.ofSeconds(5), Duration.ofSeconds(30), null, null, null, () -> null, null);

	LockSettings {
		Assert.hasText(name, "Lock name must not be blank");
		checkTimes(" of lock '" + name + "'", waitTime, leaseTime, maxHoldTime, minHoldTime);
	}

	/**
	 * Check those times that are given.
	 * @param of whose times they are, for messages
	 */
	static void checkTimes(String of, @Nullable Duration waitTime, @Nullable Duration leaseTime,
			@Nullable Duration maxHoldTime, @Nullable Duration minHoldTime) {
		Assert.isTrue(waitTime == null || !waitTime.isNegative(), () -> "Wait time" + of + " must not be negative");
		Assert.isTrue(leaseTime == null || leaseTime.toMillis() > 0,
				() -> "Lease time" + of + " must be at least 1 ms");
		Assert.isTrue(maxHoldTime == null || maxHoldTime.toMillis() > 0,
				() -> "Maximum hold time" + of + " must be at least 1 ms");
		Assert.isTrue(minHoldTime == null || !minHoldTime.isNegative(),
				() -> "Minimum hold time" + of + " must not be negative");
		Assert.isTrue(minHoldTime == null || maxHoldTime == null || minHoldTime.compareTo(maxHoldTime) <= 0,
				() -> "Minimum hold time" + of + " must not be longer than its maximum hold time");
	}

	LockSettings with(LockTemplate.@Nullable Overrides overrides) {
		if (overrides == null) {
			return this;
		}
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair,
				or(overrides.waitTime(), this.waitTime), or(overrides.leaseTime(), this.leaseTime),
				(overrides.maxHoldTime() != null) ? overrides.maxHoldTime() : this.maxHoldTime,
				(overrides.minHoldTime() != null) ? overrides.minHoldTime() : this.minHoldTime, this.propagation,
				this.transactionManager, this.transactionName);
	}

	private static Duration or(@Nullable Duration overriding, Duration otherwise) {
		return (overriding != null) ? overriding : otherwise;
	}

	LockSettings withName(String name) {
		return new LockSettings(name, this.keyPrefix, this.mode, this.fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withKeyPrefix(String keyPrefix) {
		return new LockSettings(this.name, keyPrefix, this.mode, this.fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withMode(LockRequest.Mode mode) {
		return new LockSettings(this.name, this.keyPrefix, mode, this.fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withFair(boolean fair) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withWaitTime(Duration waitTime) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withLeaseTime(Duration leaseTime) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.waitTime, leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withMaxHoldTime(@Nullable Duration maxHoldTime) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.waitTime, this.leaseTime,
				maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withMinHoldTime(@Nullable Duration minHoldTime) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, minHoldTime, this.propagation, this.transactionManager, this.transactionName);
	}

	LockSettings withPropagation(@Nullable Propagation propagation,
			Supplier<? extends @Nullable TransactionManager> transactionManager) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, propagation, transactionManager, this.transactionName);
	}

	LockSettings withTransactionName(@Nullable String transactionName) {
		return new LockSettings(this.name, this.keyPrefix, this.mode, this.fair, this.waitTime, this.leaseTime,
				this.maxHoldTime, this.minHoldTime, this.propagation, this.transactionManager, transactionName);
	}

	LockRequest request(String storedKey, Duration waitTime, String owner, String holder) {
		return new LockRequest(storedKey, this.name, this.mode, this.fair, waitTime, this.leaseTime, owner, holder, 0);
	}

}
