package io.github.holdfast.transaction;

import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.support.LockConfigurationException;

/**
 * A transaction manager with what can be checked at its commits. Finds this out at the
 * first use, when the manager and the lock store are complete.
 */
final class GuardedManager {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuard.class);

	private static final String OTHERWISE = "name it in 'holdfast.unguarded-transaction-managers' if nothing that locks "
			+ "protect is changed through it, or set 'holdfast.commit-guard' to ";

	private final String beanName;

	private final TransactionManager manager;

	private final Supplier<CommitGuardLevel> wanted;

	private final SingletonSupplier<Fence> fence;

	private final Supplier<Optional<DataSource>> dataSource;

	private final DatabaseProof proof;

	private final Predicate<String> leftOut;

	private volatile @Nullable CommitGuardLevel guarding;

	private volatile @Nullable Boolean sql;

	GuardedManager(String beanName, TransactionManager manager, Supplier<CommitGuardLevel> wanted,
			Supplier<@Nullable Fence> fence, DatabaseProof proof, Predicate<String> leftOut) {
		this.beanName = beanName;
		this.manager = manager;
		this.wanted = wanted;
		this.fence = SingletonSupplier.of(fence);
		this.dataSource = SingletonSupplier.of(() -> Optional.ofNullable(ManagedDataSource.of(manager)));
		this.proof = proof;
		this.leftOut = leftOut;
	}

	TransactionManager manager() {
		return this.manager;
	}

	boolean isSql() {
		Boolean sql = this.sql;
		if (sql == null) {
			sql = ManagedDataSource.isSql(this.manager);
			this.sql = sql;
		}
		return sql;
	}

	/**
	 * The level at which this manager's commits are checked.
	 * @return the level
	 * @throws LockConfigurationException if the wanted level is not possible
	 */
	CommitGuardLevel guarding() {
		CommitGuardLevel guarding = this.guarding;
		if (guarding == null) {
			guarding = resolve(this.wanted.get());
			this.guarding = guarding;
		}
		return guarding;
	}

	private CommitGuardLevel resolve(CommitGuardLevel wanted) {
		if (wanted == CommitGuardLevel.LEASE) {
			return wanted;
		}
		if (this.leftOut.test(this.beanName)) {
			logger.warn("Transaction manager '{}' is one of 'holdfast.unguarded-transaction-managers': "
					+ "its commits are guarded at level 'lease' only", this.beanName);
			return CommitGuardLevel.LEASE;
		}
		if (!isSql()) {
			logger.info("Transaction manager '{}' has no SQL database: its commits are guarded at level 'lease'",
					this.beanName);
			return CommitGuardLevel.LEASE;
		}
		Fence fence = this.fence.get();
		if (fence == null) {
			return withoutFence(wanted);
		}
		DataSource dataSource = this.dataSource.get().orElse(null);
		String objection = (dataSource != null) ? this.proof.objection(fence, dataSource)
				: "its DataSource is not known to Spring";
		if (objection == null) {
			return CommitGuardLevel.FENCE;
		}
		if (wanted == CommitGuardLevel.VERIFY) {
			return wanted;
		}
		throw new LockConfigurationException(
				"The commits of the transaction manager '" + this.beanName + "' (" + this.manager.getClass().getName()
						+ ") cannot be checked by the fence: " + objection + ".",
				"Let it work on the database of the locks, " + OTHERWISE + "'lease' or 'verify'.");
	}

	private static CommitGuardLevel withoutFence(CommitGuardLevel wanted) {
		if (wanted == CommitGuardLevel.VERIFY) {
			return wanted;
		}
		throw new LockConfigurationException(
				"The level 'fence' of 'holdfast.commit-guard' needs a Fence bean beside your own LockBackend bean.",
				"Put your backend into a FencedLockBackend with a FenceTable, and declare 'FenceTable.fence()' "
						+ "as a bean, or set 'holdfast.commit-guard' to 'lease' or 'verify'.");
	}

	/**
	 * What it means that a lease is not held, as the end of a sentence.
	 */
	String lossDetail() {
		CommitGuardLevel level = guarding();
		return (level == CommitGuardLevel.FENCE) ? fence().lossDetail() : level.lossDetail();
	}

	Fence fence() {
		Fence fence = this.fence.get();
		Assert.state(fence != null, "No fence");
		return fence;
	}

	DataSource dataSource() {
		DataSource dataSource = this.dataSource.get().orElse(null);
		Assert.state(dataSource != null, "No DataSource");
		return dataSource;
	}

	/**
	 * Fail if the transaction has taken longer than its time-out, which is otherwise
	 * looked at only when a statement is made.
	 */
	void checkTimeout() {
		DataSource dataSource = this.dataSource.get().orElse(null);
		if (dataSource != null
				&& TransactionSynchronizationManager.getResource(dataSource) instanceof ResourceHolderSupport holder
				&& holder.hasTimeout()) {
			holder.getTimeToLiveInMillis();
		}
	}

	/**
	 * Whether the status "rolled back" after a failed commit means that the database has
	 * answered a rollback. JPA and JTA say so although nothing was sent.
	 */
	boolean reportsRollbackOfItsConnection() {
		return this.manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource;
	}

	/**
	 * Roll back what a transaction has done so far, before its connection is cleaned up.
	 */
	void rollBackBoundConnection() {
		if (reportsRollbackOfItsConnection() && TransactionSynchronizationManager.hasResource(dataSource())) {
			Fence.rollBack(dataSource());
		}
	}

	/**
	 * A manager that takes no listener cannot be guarded.
	 * @throws LockConfigurationException if it has to be
	 */
	void leaveUnguarded() {
		if (this.wanted.get() != CommitGuardLevel.LEASE && !this.leftOut.test(this.beanName)) {
			throw new LockConfigurationException("The transaction manager '" + this.beanName + "' ("
					+ this.manager.getClass().getName()
					+ ") takes no TransactionExecutionListener or no synchronizations, so that its commits cannot be guarded.",
					"Let it implement ConfigurableTransactionManager with synchronizations, " + OTHERWISE + "'lease'.");
		}
		logger.warn("Transaction manager '{}' takes no listener or no synchronizations: its commits are not guarded",
				this.beanName);
	}

}
