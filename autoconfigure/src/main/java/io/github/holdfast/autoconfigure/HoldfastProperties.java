package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;
import io.github.holdfast.transaction.StaleContext;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration properties for distributed locks.
 *
 * @param enabled Whether locked methods and templates take locks. If disabled, they run
 * without a lock.
 * @param backend Store that keeps the locks. By default, the only available one.
 * @param keyPrefix Text that all stored keys begin with. Services with the same prefix
 * and the same key exclude each other.
 * @param waitTime Time to wait for a lock. Zero means one attempt.
 * @param leaseTime Time after which other nodes get the lock of a node that has died or
 * hangs. Leases are renewed while their methods run. At least one second.
 * @param commitGuard Protection of commits under a lock. By default, 'fence' if there is
 * a transaction manager for a SQL database, except with the backend 'local'; otherwise
 * 'lease'.
 * @param onActiveTransaction Reaction to a locked call within a running transaction.
 * @param order Order of the lock among the advisors of a bean. Must be lower than the
 * order of the transaction advisor.
 * @param locks Overrides for the locks with a name. They win over annotations and code.
 * @param startupChecks Reaction to failed startup checks: self-invocations of locked
 * methods, a store that cannot keep locks, and a database that does not lock rows.
 * @param transactionManagers Protection of single transaction managers, by bean name:
 * 'fence' for one that uses the database of the locks through a DataSource that is not
 * recognized, 'lease' for one that changes nothing that locks protect.
 * @param jdbc Locks in a SQL database.
 * @param jpa Locks around methods that use JPA.
 * @param redis Locks in Redis.
 * @param handoverLimit Time for which the threads of one JVM may hand over a lock before
 * other nodes get it. Zero disables handovers.
 * @param leakDetectionThreshold Time for which a lock may be held before the stack of its
 * thread is logged. By default, nothing is logged.
 * @param problemdetails Responses of Spring MVC to exceptions of locks.
 */
@ConfigurationProperties(prefix = "holdfast", ignoreUnknownFields = false)
public record HoldfastProperties(@DefaultValue("true") boolean enabled, @Nullable LockBackendType backend,
		@DefaultValue("holdfast:") String keyPrefix, @DefaultValue("5s") Duration waitTime,
		@DefaultValue("60s") Duration leaseTime, @Nullable CommitGuardLevel commitGuard,
		@DefaultValue("reject") OnActiveTransaction onActiveTransaction, @DefaultValue("2147483646") int order,
		@DefaultValue Map<String, Lock> locks, @DefaultValue("fail") StartupChecks startupChecks,
		@DefaultValue Map<String, CommitGuardLevel> transactionManagers, @DefaultValue Jdbc jdbc, @DefaultValue Jpa jpa,
		@DefaultValue Redis redis, @DefaultValue("25ms") Duration handoverLimit,
		@Nullable Duration leakDetectionThreshold, @DefaultValue Problemdetails problemdetails) {

	public HoldfastProperties {
		check("wait-time", waitTime, Duration.ZERO);
		check("lease-time", leaseTime, Duration.ofSeconds(1));
		check("handover-limit", handoverLimit, Duration.ZERO);
		if (!jdbc.retention.isZero()) {
			check("jdbc.retention", jdbc.retention, leaseTime);
		}
	}

	private static void check(String name, Duration value, Duration least) {
		if (value.compareTo(least) < 0) {
			throw new LockConfigurationException("'holdfast." + name + "' is " + value.toMillis()
					+ " ms, but must be at least " + least.toMillis() + " ms.",
					"Correct the value. A number without a unit counts milliseconds.");
		}
	}

	/**
	 * Overrides for the locks with one name.
	 *
	 * @param enabled Whether to take these locks. If disabled, their methods run without.
	 * @param waitTime Time to wait for a lock. Zero means one attempt.
	 * @param leaseTime Time after which other nodes get the lock of a node that has died
	 * or hangs.
	 * @param maxHoldTime Time after which the renewal of leases ends.
	 * @param minHoldTime Time for which a lock is held even if its method ends earlier.
	 */
	public record Lock(@DefaultValue("true") boolean enabled, @Nullable Duration waitTime, @Nullable Duration leaseTime,
			@Nullable Duration maxHoldTime, @Nullable Duration minHoldTime) {

	}

	/**
	 * Locks in a SQL database.
	 *
	 * @param initializeSchema When to create the table 'holdfast_lock' at startup. With
	 * Flyway or Liquibase, use 'never'.
	 * @param mode Whether transactions take their locks themselves where they can, or all
	 * locks are leases.
	 * @param retention Age at which the row of a lock that is not in use may be deleted.
	 * Zero keeps all rows.
	 */
	public record Jdbc(@DefaultValue("embedded") SchemaInitialization initializeSchema,
			@DefaultValue("transaction") Mode mode, @DefaultValue("7d") Duration retention) {

		/**
		 * When to create the table.
		 */
		public enum SchemaInitialization {

			/** At each startup, if the table does not exist. */
			ALWAYS,

			/** Only in an embedded database. */
			EMBEDDED,

			/** Never. */
			NEVER

		}

		/**
		 * The kind of locks in a SQL database.
		 */
		public enum Mode {

			/**
			 * The first statement of the transaction of a locked method takes the lock,
			 * and its commit releases it. Other methods take leases.
			 */
			TRANSACTION,

			/** All locks are leases, which are renewed. */
			LEASE

		}

	}

	/**
	 * Locks around methods that use JPA.
	 *
	 * @param staleContext What a locked method sees of a persistence context that was
	 * opened before the lock, such as that of an open view.
	 */
	public record Jpa(@DefaultValue("isolate") StaleContext staleContext) {

	}

	/**
	 * Locks in Redis.
	 *
	 * @param quorum Locks in several independent Redis masters.
	 */
	public record Redis(@DefaultValue Quorum quorum) {

		/**
		 * Locks in several independent Redis masters.
		 *
		 * @param nodes Masters to use instead of 'spring.data.redis', written
		 * 'host:port'. An odd number, at least three.
		 */
		public record Quorum(@Nullable List<String> nodes) {

		}

	}

	/**
	 * Responses of Spring MVC to exceptions of locks.
	 *
	 * @param enabled Whether to answer with 409 or 503 and problem details.
	 */
	public record Problemdetails(@DefaultValue("false") boolean enabled) {

	}

}
