package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Map;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;

/**
 * Puts the lock around annotated methods. Its order decides what is inside of the lock:
 * by default caching and the transaction.
 */
public final class DistributedLockAdvisor extends AbstractPointcutAdvisor {

	private static final long serialVersionUID = 1L;

	/**
	 * Just outside of advice with Spring's default order for transactions and caching.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	private final transient LockOperationSource source;

	private final transient Map<Method, LockOperation> operations;

	private final transient LockInterceptor interceptor;

	private final transient Pointcut pointcut;

	/**
	 * Create an advisor.
	 * @param source knows the annotated methods
	 * @param order the order among the advisors of a bean
	 */
	public DistributedLockAdvisor(LockOperationSource source, int order) {
		this(source, order, Map.of());
	}

	private DistributedLockAdvisor(LockOperationSource source, int order, Map<Method, LockOperation> operations) {
		this.source = source;
		this.operations = operations;
		this.interceptor = new LockInterceptor(source, this);
		this.pointcut = new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return source.isLocked(method, targetClass);
			}

		};
		setOrder(order);
	}

	/**
	 * Finds the advisor of a bean.
	 * @param bean the bean
	 * @return the advisor, or {@code null} if calls of the bean take no locks
	 */
	public static @Nullable DistributedLockAdvisor of(@Nullable Object bean) {
		if (bean instanceof Advised advised) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof DistributedLockAdvisor found) {
					return found;
				}
			}
			return of(AopProxyUtils.getSingletonTarget(bean));
		}
		return null;
	}

	/**
	 * Creates an advisor of one bean.
	 * @param operations the operations that the bean has in place of those of its class
	 */
	DistributedLockAdvisor with(Map<Method, LockOperation> operations) {
		return new DistributedLockAdvisor(this.source, getOrder(), operations);
	}

	LockOperation ofBean(LockOperation operation) {
		return this.operations.getOrDefault(operation.method(), operation);
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.interceptor;
	}

}
