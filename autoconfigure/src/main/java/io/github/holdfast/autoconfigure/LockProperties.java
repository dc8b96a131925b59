package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;

/**
 * Configuration properties for distributed locks.
 *
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast")
public class LockProperties {

	/**
	 * Whether methods and templates take locks. When disabled they run without.
	 */
	private boolean enabled = true;

	/**
	 * Store that keeps the locks. By default, the only one that is available.
	 */
	private @Nullable LockBackendType backend;

	/**
	 * Text in front of each key in the store.
	 */
	private String keyPrefix = "lock:";

	/**
	 * Time to wait for a lock, including local queues. Zero means one attempt.
	 */
	private Duration waitTime = Duration.ofSeconds(5);

	/**
	 * Time after which others get the lock of a JVM that has died. Leases are renewed
	 * while their methods run.
	 */
	private Duration leaseTime = Duration.ofSeconds(30);

	/**
	 * Check just before a transaction commits under a lock. By default, 'fence' for the
	 * backend 'jdbc' and 'lease' for the others.
	 */
	private @Nullable CommitGuardLevel commitGuard;

	/**
	 * Names of the transaction managers whose commits get the check of the level 'lease'
	 * at most. Nothing that locks protect may be changed through them.
	 */
	private Set<String> unguardedTransactionManagers = new LinkedHashSet<>();

	/**
	 * Reaction to a locked call inside a running transaction.
	 */
	private OnActiveTransaction onActiveTransaction = OnActiveTransaction.REJECT;

	/**
	 * Order of the lock among the advisors of a bean. Must be smaller than the order of
	 * the transaction advisor.
	 */
	private int order = DistributedLockAdvisor.DEFAULT_ORDER;

	/**
	 * Overrides for the locks of one name, which win over annotations and code. Each name
	 * must be that of a lock.
	 */
	private final Map<String, Lock> locks = new LinkedHashMap<>();

	public boolean isEnabled() {
		return this.enabled;
	}

	public void setEnabled(boolean enabled) {
		this.enabled = enabled;
	}

	public @Nullable LockBackendType getBackend() {
		return this.backend;
	}

	public void setBackend(@Nullable LockBackendType backend) {
		this.backend = backend;
	}

	public String getKeyPrefix() {
		return this.keyPrefix;
	}

	public void setKeyPrefix(String keyPrefix) {
		this.keyPrefix = keyPrefix;
	}

	public Duration getWaitTime() {
		return this.waitTime;
	}

	public void setWaitTime(Duration waitTime) {
		this.waitTime = waitTime;
	}

	public Duration getLeaseTime() {
		return this.leaseTime;
	}

	public void setLeaseTime(Duration leaseTime) {
		this.leaseTime = leaseTime;
	}

	public @Nullable CommitGuardLevel getCommitGuard() {
		return this.commitGuard;
	}

	public void setCommitGuard(@Nullable CommitGuardLevel commitGuard) {
		this.commitGuard = commitGuard;
	}

	public Set<String> getUnguardedTransactionManagers() {
		return this.unguardedTransactionManagers;
	}

	public void setUnguardedTransactionManagers(Set<String> unguardedTransactionManagers) {
		this.unguardedTransactionManagers = unguardedTransactionManagers;
	}

	public OnActiveTransaction getOnActiveTransaction() {
		return this.onActiveTransaction;
	}

	public void setOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		this.onActiveTransaction = onActiveTransaction;
	}

	public int getOrder() {
		return this.order;
	}

	public void setOrder(int order) {
		this.order = order;
	}

	public Map<String, Lock> getLocks() {
		return this.locks;
	}

	Set<String> namesWithoutHandover() {
		return this.locks.entrySet()
			.stream()
			.filter((lock) -> !lock.getValue().isHandover())
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Overrides for the locks of one name.
	 */
	public static class Lock {

		/**
		 * Whether to take these locks. When disabled their methods run without.
		 */
		private boolean enabled = true;

		/**
		 * Time to wait for a lock, including local queues. Zero means one attempt.
		 */
		private @Nullable Duration waitTime;

		/**
		 * Time after which others get the lock of a JVM that has died.
		 */
		private @Nullable Duration leaseTime;

		/**
		 * Time after which leases are no longer renewed.
		 */
		private @Nullable Duration maxHoldTime;

		/**
		 * Time for which a lock is held even if its method ends earlier.
		 */
		private @Nullable Duration minHoldTime;

		/**
		 * Whether these locks may be passed on among the threads of one JVM.
		 */
		private boolean handover = true;

		public boolean isEnabled() {
			return this.enabled;
		}

		public void setEnabled(boolean enabled) {
			this.enabled = enabled;
		}

		public @Nullable Duration getWaitTime() {
			return this.waitTime;
		}

		public void setWaitTime(@Nullable Duration waitTime) {
			this.waitTime = waitTime;
		}

		public @Nullable Duration getLeaseTime() {
			return this.leaseTime;
		}

		public void setLeaseTime(@Nullable Duration leaseTime) {
			this.leaseTime = leaseTime;
		}

		public @Nullable Duration getMaxHoldTime() {
			return this.maxHoldTime;
		}

		public void setMaxHoldTime(@Nullable Duration maxHoldTime) {
			this.maxHoldTime = maxHoldTime;
		}

		public @Nullable Duration getMinHoldTime() {
			return this.minHoldTime;
		}

		public void setMinHoldTime(@Nullable Duration minHoldTime) {
			this.minHoldTime = minHoldTime;
		}

		public boolean isHandover() {
			return this.handover;
		}

		public void setHandover(boolean handover) {
			this.handover = handover;
		}

	}

}
