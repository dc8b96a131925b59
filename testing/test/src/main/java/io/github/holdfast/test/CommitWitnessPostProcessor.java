package io.github.holdfast.test;

import java.util.function.Supplier;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Gives every transaction manager a {@link CommitWitness}, whoever defined it. It hears
 * of a commit before the guard does, which is always the last listener.
 */
final class CommitWitnessPostProcessor implements BeanPostProcessor {

	private final Supplier<TestLockBackend> backend;

	CommitWitnessPostProcessor(Supplier<TestLockBackend> backend) {
		this.backend = backend;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager) {
			Object target = AopProxyUtils.getSingletonTarget(bean);
			if (((target != null) ? target : bean) instanceof ConfigurableTransactionManager manager
					&& manager.getTransactionExecutionListeners().stream().noneMatch(CommitWitness.class::isInstance)) {
				manager.addListener(new CommitWitness(this.backend));
			}
		}
		return bean;
	}

}
