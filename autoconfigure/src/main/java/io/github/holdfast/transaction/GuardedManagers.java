package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.holdfast.LockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;

/**
 * Puts its listener first in each transaction manager. When all beans exist, it checks
 * that their transactions can be guarded.
 */
public final class GuardedManagers implements BeanPostProcessor, PriorityOrdered, SmartInitializingSingleton {

	private static final String NAME_IT = "'holdfast.transaction-managers.%s: fence' if it works on the database of "
			+ "the locks, or 'holdfast.transaction-managers.%s: lease' if nothing that locks protect is changed "
			+ "through it";

	private final List<GuardedManager> managers = new CopyOnWriteArrayList<>();

	private final ConfigurableListableBeanFactory beans;

	private final Supplier<@Nullable RowClaims> claims;

	private final Supplier<Map<String, CommitGuardLevel>> levels;

	private volatile boolean started;

	/**
	 * Create the post-processor.
	 * @param beans the beans of the application
	 * @param claims supplies the rows that transactions claim, or {@code null} at
	 * {@code holdfast.commit-guard: lease}; asked when all beans are there
	 * @param levels supplies the levels that the configuration gives to managers, by bean
	 * name
	 */
	public GuardedManagers(ConfigurableListableBeanFactory beans, Supplier<@Nullable RowClaims> claims,
			Supplier<Map<String, CommitGuardLevel>> levels) {
		this.beans = beans;
		this.claims = claims;
		this.levels = levels;
	}

	/**
	 * Before Spring creates advice: with it, it may create managers, because of a
	 * {@code TransactionManagementConfigurer}.
	 */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof DataSource dataSource) {
			ManagedDataSource.isolate(dataSource);
		}
		else if (bean instanceof PlatformTransactionManager manager) {
			guard(manager, beanName);
		}
		return bean;
	}

	private void guard(PlatformTransactionManager bean, String beanName) {
		TransactionManager manager = withoutProxy(bean);
		if (find(manager) != null) {
			return;
		}
		GuardedManager guarded = new GuardedManager(beanName, manager, ManagedDataSource.of(manager));
		this.managers.add(guarded);
		if (manager instanceof ConfigurableTransactionManager target && synchronizes(manager)) {
			List<TransactionExecutionListener> listeners = new ArrayList<>(target.getTransactionExecutionListeners());
			// First, so that no listener of the application works before the claim
			listeners.add(0, new TransactionClaims(guarded));
			target.setTransactionExecutionListeners(listeners);
		}
		if (this.started) {
			check(guarded);
		}
	}

	private static TransactionManager withoutProxy(TransactionManager manager) {
		Object target = AopProxyUtils.getSingletonTarget(manager);
		return (target instanceof TransactionManager found) ? found : manager;
	}

	private static boolean synchronizes(TransactionManager manager) {
		return !(manager instanceof AbstractPlatformTransactionManager platform && platform
			.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
	}

	/**
	 * A manager that was created even earlier gets its listener here.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		for (String name : this.beans.getBeanNamesForType(PlatformTransactionManager.class, false, false)) {
			if (this.beans.containsSingleton(name)) {
				guard(this.beans.getBean(name, PlatformTransactionManager.class), name);
			}
		}
		this.started = true;
		this.managers.forEach(this::check);
		for (String named : this.levels.get().keySet()) {
			if (this.managers.stream().noneMatch((manager) -> manager.beanName.equals(named))) {
				throw new LockConfigurationException(
						"'holdfast.transaction-managers' names '" + named + "', but there is no such transaction "
								+ "manager.",
						"Use one of the bean names " + this.managers.stream().map((each) -> each.beanName).toList()
								+ ".");
			}
		}
	}

	private void check(GuardedManager guarded) {
		RowClaims claims = this.claims.get();
		CommitGuardLevel level = this.levels.get().get(guarded.beanName);
		if (claims != null && level != CommitGuardLevel.LEASE && guarded.isSql()) {
			checkFenced(guarded, claims, level != null);
			guarded.claims = claims;
		}
		else if (claims != null && level == CommitGuardLevel.FENCE) {
			throw refused(guarded, "It has no database");
		}
		guarded.ready = true;
	}

	private static void checkFenced(GuardedManager guarded, RowClaims claims, boolean named) {
		DataSource dataSource = guarded.dataSource;
		if (!synchronizes(guarded.manager) || !(guarded.manager instanceof ConfigurableTransactionManager target)
				|| target.getTransactionExecutionListeners().stream().noneMatch(TransactionClaims.class::isInstance)) {
			throw refused(guarded,
					"It has no synchronizations or TransactionExecutionListeners, or a bean has replaced them");
		}
		if (dataSource == null) {
			throw refused(guarded, "It has no DataSource that Holdfast could find; JTA is not supported");
		}
		DataSource pool = ManagedDataSource.pool(dataSource);
		if (!named && pool != ManagedDataSource.pool(claims.database().dataSource())) {
			throw refused(guarded, "It works on another DataSource than the locks");
		}
		if (!named && !ManagedDataSource.isKnown(pool)) {
			throw refused(guarded, "Its DataSource (" + pool.getClass().getName()
					+ ") is no connection pool that Holdfast knows, so it may be a router to several databases");
		}
		ManagedDataSource.checkAutoCommit(dataSource, guarded.beanName);
	}

	private static LockConfigurationException refused(GuardedManager guarded, String reason) {
		return new LockConfigurationException(
				"The commits of the transaction manager '" + guarded.beanName + "' ("
						+ guarded.manager.getClass().getName() + ") cannot be guarded. " + reason + ".",
				"Let it work on the connection pool of the locks. Otherwise set "
						+ NAME_IT.replace("%s", guarded.beanName) + ".");
	}

	/**
	 * The manager of a transaction.
	 * @return {@code null} if it is not a bean of this application
	 */
	@Nullable GuardedManager find(@Nullable TransactionManager manager) {
		TransactionManager target = (manager != null) ? withoutProxy(manager) : null;
		return this.managers.stream().filter((each) -> each.manager == target).findFirst().orElse(null);
	}

	/**
	 * Whether a transaction of one of the managers that have a database is running.
	 * @param suspended the manager of a method that suspends its own, or {@code null}.
	 * Only transactions of the lock's database count then, unless it works there itself
	 */
	boolean isAnyRunning(@Nullable TransactionManager suspended) {
		GuardedManager own = find(suspended);
		return this.managers.stream()
			.anyMatch((each) -> each.isRunning() && (own == null || own.claims == null && each.claims != null));
	}

	/**
	 * One transaction manager.
	 */
	static final class GuardedManager {

		private final String beanName;

		private final TransactionManager manager;

		private final @Nullable DataSource dataSource;

		private volatile @Nullable RowClaims claims;

		private volatile boolean ready;

		GuardedManager(String beanName, TransactionManager manager, @Nullable DataSource dataSource) {
			this.beanName = beanName;
			this.manager = manager;
			this.dataSource = dataSource;
		}

		String beanName() {
			return this.beanName;
		}

		@Nullable DataSource dataSource() {
			return this.dataSource;
		}

		/**
		 * The rows that transactions of this manager claim, or {@code null} if their
		 * commits are checked by the clock only.
		 */
		@Nullable RowClaims claims() {
			return this.claims;
		}

		boolean isReady() {
			return this.ready;
		}

		/**
		 * Managers of messages and of Spring Batch's "no resource" have no database.
		 */
		private boolean isSql() {
			return this.dataSource != null || !(this.manager instanceof ResourceTransactionManager)
					&& !this.manager.getClass().getSimpleName().equals("ResourcelessTransactionManager");
		}

		private boolean isRunning() {
			return this.dataSource != null && (OpenTransaction.isBound(this.dataSource)
					|| this.manager instanceof ResourceTransactionManager resources
							&& OpenTransaction.isBound(resources.getResourceFactory()));
		}

	}

}
