package io.github.holdfast.transaction;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.jpa.PersistenceContext;
import io.github.holdfast.sql.ThreadTransaction;

/**
 * A transaction manager with what can be checked at its commits. Finds this out at the
 * first use, when the manager and the lock store are complete.
 */
final class GuardedManager {

	private static final Logger logger = LoggerFactory.getLogger(GuardedManager.class);

	private static final String ANOTHER_POOL = "name it in 'holdfast.fenced-transaction-managers' if it works on their "
			+ "database through another pool or a router, ";

	private static final String OTHERWISE = "name it in 'holdfast.unguarded-transaction-managers' if nothing that locks "
			+ "protect is changed through it, or set 'holdfast.commit-guard' to ";

	private static final ClassValue<Boolean> BEGINNING = implementing("afterBegin");

	private static final ClassValue<Boolean> ENDING = implementing("afterCommit", "afterRollback");

	private final String beanName;

	private final TransactionManager manager;

	private final GuardedLocks locks;

	private final SingletonSupplier<BackendGuards> guards;

	private final Map<LockBackend, GuardedLocks> others = new ConcurrentHashMap<>();

	private final Supplier<Optional<DataSource>> dataSource;

	private final SingletonSupplier<ManagerResources> resources;

	private final Supplier<Boolean> fetchingLate;

	private final Supplier<Boolean> fetchingForCaller;

	private final Predicate<String> leftOut;

	private final Predicate<String> fenced;

	private final AtomicBoolean told = new AtomicBoolean();

	private volatile @Nullable Boolean sql;

	GuardedManager(String beanName, TransactionManager manager, Supplier<CommitGuardLevel> wanted,
			Supplier<@Nullable Fence> fence, Predicate<String> leftOut, Predicate<String> fenced,
			Supplier<BackendGuards> guards) {
		this.beanName = beanName;
		this.manager = manager;
		this.locks = new GuardedLocks(this, wanted, fence);
		this.guards = SingletonSupplier.of(guards);
		this.dataSource = SingletonSupplier.of(() -> Optional.ofNullable(ManagedDataSource.of(manager)));
		this.resources = SingletonSupplier.of(() -> ManagerResources.of(manager));
		this.fetchingLate = SingletonSupplier
			.of(() -> ConnectionPools.isLazy(dataSource()) || ManagedDataSource.isFetchedLate(manager));
		this.fetchingForCaller = SingletonSupplier
			.of(() -> ConnectionPools.dependsOnCaller(dataSource()) && this.fetchingLate.get());
		this.leftOut = leftOut;
		this.fenced = fenced;
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
	 * What can be checked for the locks of the default backend.
	 */
	GuardedLocks locks() {
		return this.locks;
	}

	/**
	 * What can be checked for a lock, whichever backend has granted it.
	 */
	GuardedLocks locksOf(HeldLock lock) {
		BackendGuards.Guard guard = this.guards.obtain().of(lock.backend());
		return (guard != null) ? locksOf(guard) : this.locks;
	}

	private GuardedLocks locksOf(BackendGuards.Guard guard) {
		GuardedLocks known = this.others.get(guard.backend());
		return (known != null) ? known : this.others.computeIfAbsent(guard.backend(),
				(backend) -> new GuardedLocks(this, guard::level, guard::fence));
	}

	/**
	 * Find out at which levels commits are checked.
	 * @throws LockConfigurationException if a wanted level is not possible
	 */
	void checkLevels() {
		this.locks.guarding();
		this.guards.obtain().all().forEach((guard) -> locksOf(guard).guarding());
	}

	/**
	 * Refuse a pool whose connections may come with an open transaction.
	 * @throws LockConfigurationException if they may
	 */
	void checkPool() {
		DataSource dataSource = knownDataSource();
		if (dataSource != null && !isLeftOut()) {
			PoolQueries.check(dataSource, this.beanName);
		}
	}

	/**
	 * Refuse to leave out one of two managers that work on one connection: each joins the
	 * transactions of the other, and commits what was done in them.
	 * @throws LockConfigurationException if one of them is left out
	 */
	void checkConnection(GuardedManager other) {
		DataSource dataSource = knownDataSource();
		if (isLeftOut() && !other.isLeftOut() && dataSource != null && dataSource == other.knownDataSource()) {
			throw new LockConfigurationException(
					"'holdfast.unguarded-transaction-managers' names '" + this.beanName
							+ "', which works on the same DataSource as '" + other.beanName
							+ "', and so in its transactions and on what they have written.",
					"Remove it from the list: its commits can be checked as those of the other one.");
		}
	}

	/**
	 * Whether this manager's commits are not to be checked, or cannot be, by more than
	 * the clock of this JVM.
	 */
	boolean hasLeaseCheckOnly() {
		if (isLeftOut()) {
			if (!this.told.getAndSet(true)) {
				logger.warn("Transaction manager '{}' is one of 'holdfast.unguarded-transaction-managers': "
						+ "its commits are guarded at level 'lease' only", this.beanName);
			}
			return true;
		}
		if (!isSql() && !this.told.getAndSet(true)) {
			logger.info("Transaction manager '{}' has no SQL database: its commits are guarded at level 'lease'",
					this.beanName);
		}
		return !isSql();
	}

	/**
	 * Whether the application says that this manager works on the database of the locks.
	 * If it does not, no check finds its row there, and nothing is committed.
	 */
	boolean isSaidToBeFenced() {
		return this.fenced.test(this.beanName);
	}

	LockConfigurationException notFenced(String objection) {
		return new LockConfigurationException(
				"The commits of the transaction manager '" + this.beanName + "' (" + this.manager.getClass().getName()
						+ ") cannot be checked by the fence: " + objection + ".",
				"Let it work on the connection pool of the locks, " + ((knownDataSource() != null) ? ANOTHER_POOL : "")
						+ OTHERWISE + "'lease' or 'verify'.");
	}

	/**
	 * Whether the commits of this manager can release one of some locks.
	 */
	boolean canRelease(List<HeldLock> locks) {
		for (HeldLock lock : locks) {
			if (locksOf(lock).canRelease()) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether the commits of this manager are checked by the fence of one of some locks.
	 */
	boolean isFenced(List<HeldLock> locks) {
		return locks.stream().anyMatch((lock) -> locksOf(lock).guarding() == CommitGuardLevel.FENCE);
	}

	/**
	 * The DataSource of the transactions, or {@code null} if it is not known.
	 */
	@Nullable DataSource knownDataSource() {
		return this.dataSource.get().orElse(null);
	}

	/**
	 * Whether the connection of a transaction may be fetched for its first statement, and
	 * be another one after what the application does before.
	 */
	boolean fetchesForCaller() {
		return this.fetchingForCaller.get();
	}

	DataSource dataSource() {
		DataSource dataSource = knownDataSource();
		Assert.state(dataSource != null, "No DataSource");
		return dataSource;
	}

	/**
	 * Whether this manager rolls a connection back where it says so. JPA and JTA say so
	 * although nothing was sent.
	 */
	boolean reportsRollbackOfItsConnection() {
		return this.manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource;
	}

	/**
	 * Whether the connection can be asked in which session it does so. One that may not
	 * be fetched yet is not asked.
	 */
	boolean reportsRollbackOfItsSession() {
		return reportsRollbackOfItsConnection() && !this.fetchingLate.get();
	}

	/**
	 * Suspend the transaction of this manager, as a method of propagation
	 * {@code NOT_SUPPORTED} would. What Spring says of the current transaction is as
	 * before when it is resumed, which Spring itself forgets for one that has ended.
	 * @return resumes it
	 */
	Runnable suspendTransaction() {
		PlatformTransactionManager manager = (PlatformTransactionManager) this.manager;
		Runnable sayAgain = ThreadTransaction.remember();
		TransactionStatus status = manager
			.getTransaction(new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NOT_SUPPORTED));
		return () -> {
			manager.commit(status);
			sayAgain.run();
		};
	}

	/**
	 * Whether the manager writes what its session holds only when it commits. An
	 * application that flushes its session itself does not want that.
	 */
	boolean flushesAtCommit() {
		if (!(this.manager instanceof ResourceTransactionManager resources)) {
			return true;
		}
		Object factory = resources.getResourceFactory();
		return ManagedDataSource.isEntityManagerFactory(factory) && !PersistenceContext.isFlushedManually(factory);
	}

	/**
	 * Whether this manager has other listeners than the guard.
	 */
	boolean hasOtherListeners() {
		return hasOther((listener) -> true);
	}

	/**
	 * Whether another listener than the guard does something when a transaction begins.
	 */
	boolean worksAtTheBegin() {
		return hasOther((listener) -> BEGINNING.get(listener.getClass()));
	}

	/**
	 * Whether another listener than the guard does something when a transaction has
	 * ended.
	 */
	boolean mayWorkAfterTheEnd() {
		return hasOther((listener) -> ENDING.get(listener.getClass()));
	}

	private boolean hasOther(Predicate<TransactionExecutionListener> condition) {
		if (this.manager instanceof ConfigurableTransactionManager configurable) {
			for (TransactionExecutionListener listener : configurable.getTransactionExecutionListeners()) {
				if (!(listener instanceof Guard) && condition.test(listener)) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Of a class of listeners, whether it implements one of some methods.
	 */
	private static ClassValue<Boolean> implementing(String... methods) {
		return new ClassValue<>() {

			@Override
			protected Boolean computeValue(Class<?> type) {
				return Stream.of(methods).anyMatch((method) -> isImplemented(type, method));
			}

		};
	}

	/**
	 * Whether a listener does, as far as it can be told.
	 */
	private static boolean isImplemented(Class<?> type, String method) {
		try {
			Method found = ClassUtils.getMethodIfAvailable(type, method, TransactionExecution.class, Throwable.class);
			return found == null || found.getDeclaringClass() != TransactionExecutionListener.class;
		}
		catch (LinkageError ex) {
			return true;
		}
	}

	/**
	 * What this manager binds to a thread.
	 */
	ManagerResources resources() {
		return this.resources.obtain();
	}

	static TransactionManager withoutProxy(TransactionManager manager) {
		Object target = AopProxyUtils.getSingletonTarget(manager);
		return (target != null) ? (TransactionManager) target : manager;
	}

	String beanName() {
		return this.beanName;
	}

	/**
	 * Whether nothing that locks protect is changed through this manager.
	 */
	boolean isLeftOut() {
		return this.leftOut.test(this.beanName);
	}

	/**
	 * A manager that takes no listener cannot be guarded.
	 * @throws LockConfigurationException if it has to be
	 */
	void leaveUnguarded() {
		boolean wanted = this.locks.wantsMore()
				|| this.guards.obtain().all().stream().anyMatch((guard) -> guard.level() != CommitGuardLevel.LEASE);
		if (wanted && !isLeftOut()) {
			throw new LockConfigurationException("The transaction manager '" + this.beanName + "' ("
					+ this.manager.getClass().getName()
					+ ") takes no TransactionExecutionListener or no synchronizations, so that its commits cannot be guarded.",
					"Let it implement ConfigurableTransactionManager with synchronizations, " + OTHERWISE + "'lease'.");
		}
		logger.warn("Transaction manager '{}' takes no listener or no synchronizations: its commits are not guarded",
				this.beanName);
	}

	/**
	 * The listener that checks the commits.
	 */
	interface Guard extends TransactionExecutionListener {

	}

}
