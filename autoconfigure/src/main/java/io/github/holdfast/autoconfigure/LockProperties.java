package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

import io.github.holdfast.check.OnEntityArgument;
import io.github.holdfast.check.OnSelfCall;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.jpa.StaleContext;
import io.github.holdfast.store.HandoverLimits;
import io.github.holdfast.store.QueueLimits;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;

/**
 * Configuration properties for distributed locks. Those of a store are nested, and bound
 * where that store can be used.
 *
 * @since 0.2.0
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
	 * Time after which others get the lock of a JVM that has died or, with a transaction
	 * lock, hangs. Leases are renewed while their methods run.
	 */
	private Duration leaseTime = Duration.ofSeconds(30);

	/**
	 * Check of transactions that commit under a lock. By default, 'fence' where there is
	 * a transaction manager of an SQL database, except for the backend 'local', and
	 * 'lease' elsewhere.
	 */
	private @Nullable CommitGuardLevel commitGuard;

	/**
	 * Names of the transaction managers whose commits get the check of the level 'lease'
	 * at most. Nothing that locks protect may be changed through them.
	 */
	private Set<String> unguardedTransactionManagers = new LinkedHashSet<>();

	/**
	 * Names of the transaction managers that work on the database of the locks through
	 * another connection pool, or a router. Those on the same pool need not be named.
	 */
	private Set<String> fencedTransactionManagers = new LinkedHashSet<>();

	/**
	 * Reaction to a locked call inside a running transaction.
	 */
	private OnActiveTransaction onActiveTransaction = OnActiveTransaction.REJECT;

	/**
	 * Reaction to classes whose methods call a locked method of their own object, which
	 * takes no lock then.
	 */
	private OnSelfCall onSelfCall = OnSelfCall.REJECT;

	/**
	 * Whether web clients are told of a busy lock, or a store that has failed, by 409 or
	 * 503 with details. Applies to Spring MVC.
	 */
	private boolean problemDetails = true;

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

	/**
	 * The level that applies.
	 * @param fence whether there is a fence
	 */
	CommitGuardLevel effectiveCommitGuard(boolean fence) {
		CommitGuardLevel level = this.commitGuard;
		if (level != null) {
			return level;
		}
		return fence ? CommitGuardLevel.FENCE : CommitGuardLevel.LEASE;
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

	public Set<String> getFencedTransactionManagers() {
		return this.fencedTransactionManagers;
	}

	public void setFencedTransactionManagers(Set<String> fencedTransactionManagers) {
		this.fencedTransactionManagers = fencedTransactionManagers;
	}

	public OnActiveTransaction getOnActiveTransaction() {
		return this.onActiveTransaction;
	}

	public void setOnActiveTransaction(OnActiveTransaction onActiveTransaction) {
		this.onActiveTransaction = onActiveTransaction;
	}

	public OnSelfCall getOnSelfCall() {
		return this.onSelfCall;
	}

	public void setOnSelfCall(OnSelfCall onSelfCall) {
		this.onSelfCall = onSelfCall;
	}

	public boolean isProblemDetails() {
		return this.problemDetails;
	}

	public void setProblemDetails(boolean problemDetails) {
		this.problemDetails = problemDetails;
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
		 * Name of the LockBackend bean that keeps these locks. By default, the backend of
		 * all locks.
		 */
		private @Nullable String backend;

		/**
		 * Whether to take these locks. When disabled their methods run without.
		 */
		private boolean enabled = true;

		/**
		 * Time to wait for a lock, including local queues. Zero means one attempt.
		 */
		private @Nullable Duration waitTime;

		/**
		 * Time after which others get the lock of a JVM that has died or, with a
		 * transaction lock, hangs.
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
		 * Whether these locks may be handed over among the threads of one JVM.
		 */
		private boolean handover = true;

		public @Nullable String getBackend() {
			return this.backend;
		}

		public void setBackend(@Nullable String backend) {
			this.backend = backend;
		}

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

	/**
	 * Configuration properties for the queue in which the threads of this JVM wait for
	 * locks, and for how long a lock may be handed over among them.
	 *
	 * @param maxTurns Threads in a row that get a lock by one request to the store, while
	 * other JVMs may wait for it: 0 to 255. 0 and 1 switch handing over off.
	 * @param maxTime Time for which a lock is handed over before it goes back to the
	 * store.
	 * @param maxWaiters Threads that may wait for locks in total.
	 * @param maxWaitersPerKey Threads that may wait for one lock.
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.handover")
	public record Handover(@DefaultValue("16") int maxTurns, @DefaultValue("100ms") Duration maxTime,
			@DefaultValue("10000") int maxWaitersPerKey, @DefaultValue("100000") int maxWaiters) {

		/**
		 * How long locks are handed over.
		 * @param without the names of locks that are not
		 * @return the limits
		 * @throws LockConfigurationException if they are out of range
		 */
		String summary() {
			return (this.maxTurns == 0) ? "never handed over within this JVM"
					: "handed over within this JVM up to " + this.maxTurns + " turns or "
							+ DurationFormatterUtils.print(this.maxTime, DurationFormat.Style.COMPOSITE);
		}

		HandoverLimits limits(Set<String> without) {
			try {
				return new HandoverLimits(this.maxTurns, this.maxTime, (name) -> !without.contains(name));
			}
			catch (IllegalArgumentException ex) {
				throw unusable("max-turns' and 'holdfast.handover.max-time", ex);
			}
		}

		/**
		 * How many threads may wait.
		 * @return the limits
		 * @throws LockConfigurationException if they are out of range
		 */
		QueueLimits queueLimits() {
			try {
				return new QueueLimits(this.maxWaitersPerKey, this.maxWaiters);
			}
			catch (IllegalArgumentException ex) {
				throw unusable("max-waiters-per-key' and 'holdfast.handover.max-waiters", ex);
			}
		}

		private static LockConfigurationException unusable(String names, IllegalArgumentException ex) {
			return new LockConfigurationException(
					"The properties 'holdfast.handover." + names + "' are not usable: " + ex.getMessage() + ".",
					"Correct the number, or remove the property for its default.", ex);
		}

	}

	/**
	 * Configuration properties for warnings of locks that are waited for, or held, longer
	 * than they should be.
	 *
	 * @param held Time for which a lock may be held before a warning shows what its
	 * thread does. If not set, none is logged.
	 * @param waited Time for which a call may wait before a warning shows who holds the
	 * lock. If not set, none is logged.
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.warn-after")
	public record WarnAfter(@Nullable Duration waited, @Nullable Duration held) {

	}

	/**
	 * Configuration properties for locks in a SQL database.
	 *
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.jdbc")
	public static class Jdbc extends DatabaseInitializationProperties {

		static final String SCRIPT = "classpath:io/github/holdfast/jdbc/schema-@@platform@@.sql";

		private static final Duration MIN_PURGE_AFTER = Duration.ofMinutes(1);

		private static final Duration MAX_PURGE_AFTER = Duration.ofDays(36_500);

		/**
		 * Whether business transactions take their locks themselves, where they can, or
		 * all locks are leases.
		 */
		private JdbcLockMode mode = JdbcLockMode.TRANSACTION;

		/**
		 * Time after its last use from which on the row of a lock may be deleted. Zero
		 * means never.
		 */
		private Duration purgeAfter = Duration.ofDays(7);

		/**
		 * Create properties with their defaults. A script that fails must not pass
		 * unnoticed.
		 */
		@SuppressWarnings("this-escape")
		public Jdbc() {
			setContinueOnError(false);
		}

		public JdbcLockMode getMode() {
			return this.mode;
		}

		public void setMode(JdbcLockMode mode) {
			this.mode = mode;
		}

		public Duration getPurgeAfter() {
			return this.purgeAfter;
		}

		public void setPurgeAfter(Duration purgeAfter) {
			this.purgeAfter = purgeAfter;
		}

		@Override
		public String getDefaultSchemaLocation() {
			return SCRIPT;
		}

		/**
		 * Check that nobody can still be about to use a row that is purged.
		 * @param leaseTime the time for which locks are leased
		 */
		void validatePurge(Duration leaseTime) {
			if (this.purgeAfter.compareTo(MAX_PURGE_AFTER) > 0) {
				throw new LockConfigurationException(
						"'holdfast.jdbc.purge-after' is " + this.purgeAfter + ", which is more than "
								+ MAX_PURGE_AFTER.toDays() + " days.",
						"Set it to a shorter time, such as '7d', or to '0' to keep all lock rows.");
			}
			if (!this.purgeAfter.isZero()
					&& (this.purgeAfter.compareTo(MIN_PURGE_AFTER) < 0 || this.purgeAfter.compareTo(leaseTime) < 0)) {
				throw new LockConfigurationException(
						"'holdfast.jdbc.purge-after' is " + this.purgeAfter
								+ ", which is less than a minute or than 'holdfast.lease-time' (" + leaseTime + ").",
						"Set it to a longer time, such as '7d', or to '0' to keep all lock rows.");
			}
		}

	}

	/**
	 * Configuration properties for the fence table, by which commits are checked at the
	 * level 'fence' when the locks are kept outside of the business database.
	 *
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.fence")
	public static class Fence {

		static final String SCRIPT = "classpath:io/github/holdfast/jdbc/fence-schema-@@platform@@.sql";

		/**
		 * Name of the store in the fence table, the same on all nodes: 1 to 40 characters
		 * of ASCII. By default, the name of the backend.
		 */
		private @Nullable String source;

		/**
		 * When to create the fence table at start. Leave it to Flyway or Liquibase by
		 * 'never'.
		 */
		private DatabaseInitializationMode initializeSchema = DatabaseInitializationMode.EMBEDDED;

		public @Nullable String getSource() {
			return this.source;
		}

		public void setSource(@Nullable String source) {
			this.source = source;
		}

		public DatabaseInitializationMode getInitializeSchema() {
			return this.initializeSchema;
		}

		public void setInitializeSchema(DatabaseInitializationMode initializeSchema) {
			this.initializeSchema = initializeSchema;
		}

	}

	/**
	 * Configuration properties for the database of the lock table or the fence table.
	 *
	 * @param checkRowLocks Whether to prove at the start, on two connections, that the
	 * database locks rows.
	 * @param singleWriter Whether all nodes of the application write to the same server
	 * of a cluster whose servers all take writes.
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.database")
	public record Database(@DefaultValue("true") boolean checkRowLocks, @DefaultValue("false") boolean singleWriter) {

	}

	/**
	 * Configuration properties for locks in Redis.
	 *
	 * @param quorum independent masters instead of the Redis of 'spring.data.redis'
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.redis")
	public record Redis(@DefaultValue Quorum quorum) {

		/**
		 * Several independent masters, of which a majority must grant each lock.
		 *
		 * @param nodes Addresses of an odd number of independent Redis masters, at least
		 * three. If not set, the Redis of 'spring.data.redis' keeps the locks alone.
		 */
		public record Quorum(@DefaultValue List<String> nodes) {

			/**
			 * Without the nodes, whose addresses may contain passwords.
			 */
			@Override
			public String toString() {
				return "Quorum[nodes=" + this.nodes.size() + "]";
			}

		}

	}

	/**
	 * Configuration properties for locks in etcd.
	 *
	 * @param endpoints Addresses of etcd's members. If not set, the application's Client
	 * bean is used.
	 * @param username Name of the user, if etcd asks for one.
	 * @param password Password of the user.
	 * @param namespace Text that all keys in etcd begin with.
	 * @param ssl encryption
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.etcd")
	public record Etcd(@DefaultValue List<String> endpoints, @Nullable String username, @Nullable String password,
			@DefaultValue("/holdfast/") String namespace, @DefaultValue Ssl ssl) {

		/**
		 * Without endpoints, which may be written with a user, and without the password.
		 */
		@Override
		public String toString() {
			return "Etcd[namespace=" + this.namespace + "]";
		}

		/**
		 * Encryption of the connections.
		 *
		 * @param bundle Name of the SSL bundle with certificates and keys. If not set,
		 * endpoints with 'https' are trusted by the certificates of the JDK.
		 */
		public record Ssl(@Nullable String bundle) {
		}

	}

	/**
	 * Configuration properties for locks in ZooKeeper.
	 *
	 * @param connectString Addresses of the ZooKeeper servers, separated by commas and
	 * optionally followed by a path. If not set, the application's CuratorFramework is
	 * used.
	 * @param sessionTimeout Time after which others get the locks of a JVM that has died
	 * or cannot reach ZooKeeper. The servers have limits of their own for it.
	 * @param connectionTimeout Time that the application waits for ZooKeeper when it
	 * starts.
	 * @param username User of the scheme 'digest', who alone may use the nodes. If not
	 * set, everybody may.
	 * @param password Password of the user.
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.zookeeper")
	public record ZooKeeper(@Nullable String connectString, @DefaultValue("30s") Duration sessionTimeout,
			@DefaultValue("15s") Duration connectionTimeout, @Nullable String username, @Nullable String password) {

		@Override
		public String toString() {
			return "ZooKeeper[connectString=" + this.connectString + "]";
		}

	}

	/**
	 * Configuration properties for locked methods that use JPA.
	 *
	 * @param staleContext Reaction to a locked call whose persistence context holds
	 * entities already, for example by open-in-view.
	 * @param onEntityArgument Reaction to locked methods with a parameter that is an
	 * entity without a version.
	 * @since 0.2.0
	 */
	@ConfigurationProperties("holdfast.jpa")
	public record Jpa(@DefaultValue("isolate") StaleContext staleContext,
			@DefaultValue("warn") OnEntityArgument onEntityArgument) {

	}

}
