package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;

/**
 * Puts the lock around annotated methods. Its order decides what is inside the lock: by
 * default, caching and the transaction.
 */
public final class DistributedLockAdvisor extends DefaultPointcutAdvisor {

	private static final long serialVersionUID = 1L;

	/**
	 * Just outside the advice with Spring's default order for transactions and caching.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	/**
	 * Create an advisor.
	 * @param source knows the annotated methods
	 * @param order the order among the advisors of a bean
	 */
	public DistributedLockAdvisor(LockOperationSource source, int order) {
		this(new LockInterceptor(source, Map.of()), order);
	}

	DistributedLockAdvisor(LockInterceptor interceptor, int order) {
		super(new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return LockAnnotations.isPresent(method, targetClass);
			}

		}, interceptor);
		setOrder(order);
	}

	/**
	 * Finds the advisor of a bean.
	 * @param bean the bean
	 * @return the advisor, or {@code null} if calls of the bean take no locks
	 */
	public static @Nullable DistributedLockAdvisor of(@Nullable Object bean) {
		if (!(bean instanceof Advised advised)) {
			return null;
		}
		for (Advisor advisor : advised.getAdvisors()) {
			if (advisor instanceof DistributedLockAdvisor found) {
				return found;
			}
		}
		return of(AopProxyUtils.getSingletonTarget(bean));
	}

}
