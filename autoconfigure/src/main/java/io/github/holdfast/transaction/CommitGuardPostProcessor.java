package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.core.LockRule;
import io.github.holdfast.fence.Fence;

/**
 * Gives every transaction manager its own guard, whoever defined it, and checks when all
 * beans are there that the wanted level is possible. Before a lock is acquired it looks
 * whether all guards are still there. Reactive managers are left alone.
 *
 * @since 0.2.0
 */
public final class CommitGuardPostProcessor implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton,
		ApplicationListener<ContextRefreshedEvent>, LockRule {

	private static final Logger logger = LoggerFactory.getLogger(CommitGuardPostProcessor.class);

	private final Supplier<CommitGuardLevel> level;

	private final Supplier<@Nullable Fence> fence;

	private final List<GuardedManager> managers = new CopyOnWriteArrayList<>();

	private Supplier<? extends Collection<String>> leftOut = Set::of;

	private Supplier<? extends Collection<String>> fenced = Set::of;

	private Supplier<BackendGuards> others = () -> BackendGuards.NONE;

	private @Nullable ListableBeanFactory beanFactory;

	/** Whether all managers take a guard. */
	private volatile boolean seesAll = true;

	private volatile boolean complete;

	/**
	 * Create a post-processor.
	 * @param level supplies the wanted level, when all beans are there
	 * @param fence supplies the fence, or {@code null} if the backend has none
	 */
	public CommitGuardPostProcessor(Supplier<CommitGuardLevel> level, Supplier<@Nullable Fence> fence) {
		this.level = level;
		this.fence = fence;
	}

	/**
	 * Leave transaction managers out of the guard: their commits get the lease check
	 * only, or none if they take no listener. By default, none is left out.
	 * @param leftOut supplies the names of their beans, when all beans are there
	 */
	public void setUnguarded(Supplier<? extends Collection<String>> leftOut) {
		this.leftOut = leftOut;
	}

	/**
	 * Name transaction managers that work on the database of the locks through another
	 * pool or a router. By default, only those on the pool of the locks are fenced.
	 * @param fenced supplies the names of their beans, when all beans are there
	 */
	public void setFenced(Supplier<? extends Collection<String>> fenced) {
		this.fenced = fenced;
	}

	/**
	 * Check commits for the locks of further backends, too. By default, there are none.
	 * @param others supplies how that is done, at the first use
	 */
	public void setOthers(Supplier<BackendGuards> others) {
		this.others = others;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = (ListableBeanFactory) beanFactory;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager manager && !isGuarded(bean)) {
			guard(manager, beanName);
		}
		else if (bean instanceof DataSource dataSource) {
			PoolQueries.isolate(dataSource);
		}
		return bean;
	}

	private void guard(PlatformTransactionManager bean, String beanName) {
		TransactionManager manager = GuardedManager.withoutProxy(bean);
		for (GuardedManager known : this.managers) {
			if (known.manager() == manager) {
				addGuard(known);
				return;
			}
		}
		GuardedManager managed = new GuardedManager(beanName, manager, this.level, this.fence,
				(name) -> this.leftOut.get().contains(name), (name) -> this.fenced.get().contains(name),
				() -> this.others.get());
		if (takesGuard(manager)) {
			addGuard(managed);
		}
		else {
			this.seesAll = false;
		}
		this.managers.add(managed);
		if (this.complete) {
			check(managed);
		}
	}

	/**
	 * Let the guard of a manager be the last of its listeners, so that none can write
	 * when it has been told of the end.
	 * @return whether it was missing
	 */
	private synchronized boolean addGuard(GuardedManager managed) {
		if (!takesGuard(managed.manager())) {
			return false;
		}
		ConfigurableTransactionManager configurable = (ConfigurableTransactionManager) managed.manager();
		List<TransactionExecutionListener> listeners = new ArrayList<>(configurable.getTransactionExecutionListeners());
		TransactionExecutionListener guard = guard(listeners);
		boolean missing = guard == null;
		if (guard == null) {
			guard = new CommitGuard(managed, () -> this.seesAll);
		}
		else if (guard == listeners.get(listeners.size() - 1)) {
			return false;
		}
		listeners.remove(guard);
		listeners.add(guard);
		configurable.setTransactionExecutionListeners(listeners);
		return missing;
	}

	/**
	 * The listeners of a manager can be replaced, and others added, at any time, also
	 * when the application has been started. Of a manager that takes none, transactions
	 * are unseen by intent.
	 */
	@Override
	public void beforeAcquire(Attempt attempt) {
		for (GuardedManager managed : this.managers) {
			if (!isGuardLast(managed.manager()) && addGuard(managed)) {
				logger.warn(
						"The listeners of the transaction manager {} were replaced: its commits are checked again "
								+ "from now on. Use addListener instead of setTransactionExecutionListeners",
						managed.manager());
			}
		}
		if (this.seesAll) {
			ActiveTransactionRule.refuseInUnseen(attempt);
		}
	}

	/**
	 * What another listener commits at the begin, by a transaction of its own, would come
	 * before the claim. To refuse it there leaves the outer transaction on the thread.
	 */
	@Override
	public boolean allowsClaims() {
		return this.managers.stream().noneMatch((managed) -> managed.isSql() && managed.worksAtTheBegin());
	}

	/**
	 * A child context uses the locks of this one, and its transactions belong to them.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (this.complete && event.getApplicationContext().getAutowireCapableBeanFactory() != this.beanFactory) {
			event.getApplicationContext()
				.getBeansOfType(PlatformTransactionManager.class, false, false)
				.forEach((name, manager) -> postProcessAfterInitialization(manager, name));
		}
	}

	private void check(GuardedManager managed) {
		if (takesGuard(managed.manager())) {
			managed.checkLevels();
			managed.checkPool();
			this.managers.stream().filter((other) -> takesGuard(other.manager())).forEach(managed::checkConnection);
		}
		else {
			managed.leaveUnguarded();
		}
	}

	private static boolean takesGuard(TransactionManager manager) {
		return manager instanceof ConfigurableTransactionManager
				&& !(manager instanceof AbstractPlatformTransactionManager platform && platform
					.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
	}

	private static boolean isGuarded(Object bean) {
		return bean instanceof ConfigurableTransactionManager configurable
				&& guard(configurable.getTransactionExecutionListeners()) != null;
	}

	private static @Nullable TransactionExecutionListener guard(Collection<TransactionExecutionListener> listeners) {
		for (TransactionExecutionListener listener : listeners) {
			if (listener instanceof CommitGuard) {
				return listener;
			}
		}
		return null;
	}

	private static boolean isGuardLast(TransactionManager manager) {
		boolean last = false;
		if (manager instanceof ConfigurableTransactionManager configurable) {
			for (TransactionExecutionListener listener : configurable.getTransactionExecutionListeners()) {
				last = listener instanceof CommitGuard;
			}
		}
		return last;
	}

	/**
	 * Managers that another post-processor needed, or that live in a parent context, have
	 * not come by.
	 */
	private void guardEarlyManagers() {
		BeanFactory factory = this.beanFactory;
		while (factory instanceof ListableBeanFactory beans) {
			// Also those that a bean of this context hides by its name
			beans.getBeansOfType(PlatformTransactionManager.class, false, false)
				.forEach((name, manager) -> postProcessAfterInitialization(manager, name));
			factory = (beans instanceof HierarchicalBeanFactory child) ? child.getParentBeanFactory() : null;
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		guardEarlyManagers();
		checkNames();
		this.complete = true;
		this.managers.forEach(this::check);
	}

	private void checkNames() {
		if (this.beanFactory == null) {
			return;
		}
		Set<String> managers = new TreeSet<>(Arrays.asList(BeanFactoryUtils
			.beanNamesForTypeIncludingAncestors(this.beanFactory, PlatformTransactionManager.class, true, false)));
		checkNames("unguarded", this.leftOut.get(), managers);
		checkNames("fenced", this.fenced.get(), managers);
	}

	private static void checkNames(String property, Collection<String> names, Set<String> managers) {
		for (String name : names) {
			if (!managers.contains(name)) {
				throw new LockConfigurationException(
						"'holdfast." + property + "-transaction-managers' names '" + name
								+ "', but there is no transaction manager of that name.",
						managers.isEmpty() ? "Remove it: there is no PlatformTransactionManager bean."
								: "Use the names of PlatformTransactionManager beans: " + managers + ".");
			}
		}
	}

}
