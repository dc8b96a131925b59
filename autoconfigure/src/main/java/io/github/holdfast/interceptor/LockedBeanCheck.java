package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.github.holdfast.support.LockConfigurationException;

/**
 * Looks at each bean when it is complete, also at lazy and prototype ones, and refuses
 * those whose lock would be missed or released before the commit.
 *
 * @since 0.1.0
 */
public final class LockedBeanCheck implements BeanPostProcessor, SmartInitializingSingleton {

	private final LockOperationSource source;

	private final Queue<LockOperation> unchecked = new ConcurrentLinkedQueue<>();

	private volatile boolean complete;

	/**
	 * Create a check.
	 * @param source knows the annotated methods
	 */
	public LockedBeanCheck(LockOperationSource source) {
		this.source = source;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
		if (targetClass.getName().startsWith("org.springframework.") || bean instanceof ScopedObject) {
			return bean;
		}
		Collection<LockOperation> operations = this.source.getAll(targetClass);
		if (!operations.isEmpty()) {
			List<Advisor> advisors = advisors(bean);
			operations.forEach((operation) -> check(operation, bean, beanName, targetClass, advisors));
			this.unchecked.addAll(operations);
			if (this.complete) {
				checkSupported();
			}
		}
		return bean;
	}

	private static void check(LockOperation operation, Object bean, String beanName, Class<?> targetClass,
			List<Advisor> advisors) {
		String where = "@DistributedLock on " + operation.location() + " of bean '" + beanName + "' ";
		int lock = indexOfLock(advisors);
		if (lock < 0) {
			throw new LockConfigurationException(where + "has no effect, as the bean is not proxied for locks.",
					"Let Spring create the bean as usual; a bean that a BeanPostProcessor depends on is created too "
							+ "early for proxies.");
		}
		checkReachable(operation.method(), bean, where);
		Method fallback = operation.fallback();
		if (fallback != null) {
			checkReachable(fallback, bean, where);
		}
		for (int i = 0; i < lock; i++) {
			if (startsTransaction(advisors.get(i), operation.method(), targetClass)) {
				throw new LockConfigurationException(
						where + "would be taken inside of the method's transaction and released before the commit: "
								+ "the transaction advisor comes first.",
						"Set 'holdfast.order' to a smaller number than the order of the transaction advisor "
								+ "(see @EnableTransactionManagement), or leave both at their defaults.");
			}
		}
	}

	private static void checkReachable(Method method, Object bean, String where) {
		if (AopUtils.isJdkDynamicProxy(bean)) {
			try {
				AopUtils.selectInvocableMethod(method, bean.getClass());
			}
			catch (IllegalStateException ex) {
				throw new LockConfigurationException(
						where + "has no effect: method '" + method.getName()
								+ "' is not on an interface of the bean's JDK proxy.",
						"Declare the method on an interface, or set 'spring.aop.proxy-target-class' to 'true'.", ex);
			}
		}
		else if (Modifier.isFinal(method.getModifiers())) {
			throw new LockConfigurationException(
					where + "has no effect: method '" + method.getName()
							+ "' is final, so that the bean's proxy cannot intercept it.",
					"Remove 'final' from the method.");
		}
	}

	private static boolean startsTransaction(Advisor advisor, Method method, Class<?> targetClass) {
		if (!(advisor.getAdvice() instanceof TransactionInterceptor transactions)) {
			return false;
		}
		TransactionAttributeSource attributes = transactions.getTransactionAttributeSource();
		return attributes != null && attributes.getTransactionAttribute(method, targetClass) != null;
	}

	private static int indexOfLock(List<Advisor> advisors) {
		for (int i = 0; i < advisors.size(); i++) {
			if (advisors.get(i).getAdvice() instanceof LockInterceptor) {
				return i;
			}
		}
		return -1;
	}

	/**
	 * The advisors of a bean, outermost first, through proxies of proxies.
	 */
	private static List<Advisor> advisors(Object bean) {
		List<Advisor> advisors = new ArrayList<>();
		Object proxy = bean;
		while (proxy instanceof Advised advised) {
			advisors.addAll(List.of(advised.getAdvisors()));
			proxy = AopProxyUtils.getSingletonTarget(proxy);
		}
		return advisors;
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.complete = true;
		checkSupported();
	}

	private void checkSupported() {
		for (LockOperation operation = this.unchecked.poll(); operation != null; operation = this.unchecked.poll()) {
			try {
				operation.template().checkSupported();
			}
			catch (UnsupportedOperationException ex) {
				throw new LockConfigurationException(
						"@DistributedLock on " + operation.location() + " cannot be used: " + ex.getMessage() + ".",
						"Remove 'mode' and 'fair' from the annotation, or choose another backend with "
								+ "'holdfast.backend'.",
						ex);
			}
		}
	}

}
