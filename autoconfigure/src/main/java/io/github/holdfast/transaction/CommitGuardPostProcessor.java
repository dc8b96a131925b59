package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

/**
 * Gives every transaction manager its own guard, whoever defined it, and checks when all
 * beans are there that the wanted level is possible. Reactive managers are left alone.
 *
 * @since 0.1.0
 */
public final class CommitGuardPostProcessor implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton {

	private final Supplier<CommitGuardLevel> level;

	private final Supplier<@Nullable Fence> fence;

	private final List<GuardedManager> guarded = new CopyOnWriteArrayList<>();

	private final List<GuardedManager> unguarded = new CopyOnWriteArrayList<>();

	private @Nullable ListableBeanFactory beanFactory;

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

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = (ListableBeanFactory) beanFactory;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && !isGuarded(bean)) {
			guard(bean, beanName);
		}
		return bean;
	}

	private void guard(Object bean, String beanName) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		PlatformTransactionManager manager = (PlatformTransactionManager) ((target != null) ? target : bean);
		GuardedManager managed = new GuardedManager(beanName, manager, this.level, this.fence);
		if (manager instanceof ConfigurableTransactionManager configurable && hasSynchronizations(manager)) {
			List<TransactionExecutionListener> listeners = new ArrayList<>(
					configurable.getTransactionExecutionListeners());
			listeners.add(new CommitGuard(managed));
			configurable.setTransactionExecutionListeners(listeners);
			this.guarded.add(managed);
		}
		else {
			this.unguarded.add(managed);
		}
		if (this.complete) {
			afterSingletonsInstantiated();
		}
	}

	private static boolean hasSynchronizations(PlatformTransactionManager manager) {
		return !(manager instanceof AbstractPlatformTransactionManager platform)
				|| platform.getTransactionSynchronization() != AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER;
	}

	private static boolean isGuarded(Object bean) {
		return bean instanceof ConfigurableTransactionManager configurable
				&& configurable.getTransactionExecutionListeners()
					.stream()
					.anyMatch((listener) -> listener instanceof CommitGuard);
	}

	/**
	 * Managers that another post-processor needed, or that live in a parent context, have
	 * not come by.
	 */
	private void guardEarlyManagers() {
		if (this.beanFactory != null) {
			BeanFactoryUtils
				.beansOfTypeIncludingAncestors(this.beanFactory, PlatformTransactionManager.class, false, false)
				.forEach((name, manager) -> postProcessAfterInitialization(manager, name));
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!this.complete) {
			guardEarlyManagers();
		}
		this.complete = true;
		this.guarded.forEach(GuardedManager::guarding);
		this.unguarded.forEach(GuardedManager::refuseUnguarded);
	}

}
