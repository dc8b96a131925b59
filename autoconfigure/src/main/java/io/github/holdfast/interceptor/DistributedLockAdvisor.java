package io.github.holdfast.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;

/**
 * Puts the lock around annotated methods. Its order decides what is inside of the lock:
 * by default caching and the transaction.
 *
 * @since 0.2.0
 */
public final class DistributedLockAdvisor extends AbstractPointcutAdvisor {

	private static final long serialVersionUID = 1L;

	/** Just outside of what has Spring's default order for transactions and caching. */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	private final transient LockOperationSource source;

	private final transient LockInterceptor interceptor;

	/**
	 * Create an advisor.
	 * @param source knows the annotated methods
	 * @param order the order among the advisors of a bean
	 */
	public DistributedLockAdvisor(LockOperationSource source, int order) {
		this.source = source;
		this.interceptor = new LockInterceptor(source);
		setOrder(order);
	}

	@Override
	public Pointcut getPointcut() {
		LockOperationSource source = this.source;
		return new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return source.isLocked(method, targetClass);
			}

		};
	}

	@Override
	public Advice getAdvice() {
		return this.interceptor;
	}

}
