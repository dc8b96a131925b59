package io.github.holdfast.interceptor;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.github.holdfast.core.BodyTransaction;

/**
 * Lets the transaction of a locked method claim its locks: the first advice inside of it,
 * so that nothing has been read before, and a refusal rolls back as any exception does.
 */
final class ClaimInterceptor implements MethodInterceptor {

	private static final ClaimInterceptor INSTANCE = new ClaimInterceptor();

	private ClaimInterceptor() {
	}

	/**
	 * Put this advice right behind that of the transactions of a bean.
	 * @param bean the bean, of which the transaction comes right behind the lock
	 * @return {@code false} if its proxy takes no more advices
	 */
	static boolean addTo(Object bean) {
		Advisor lock = null;
		Object proxy = bean;
		while (proxy instanceof Advised advised) {
			Advisor[] advisors = advised.getAdvisors();
			for (int i = 0; i < advisors.length; i++) {
				if (advisors[i].getAdvice() instanceof LockInterceptor) {
					lock = advisors[i];
				}
				else if (lock instanceof PointcutAdvisor locked
						&& advisors[i].getAdvice() instanceof TransactionInterceptor) {
					return addTo(advised, i + 1, locked);
				}
			}
			proxy = AopProxyUtils.getSingletonTarget(proxy);
		}
		return false;
	}

	private static boolean addTo(Advised advised, int position, PointcutAdvisor lock) {
		Advisor[] advisors = advised.getAdvisors();
		if (position < advisors.length && advisors[position].getAdvice() == INSTANCE) {
			return true;
		}
		if (advised.isFrozen()) {
			return false;
		}
		advised.addAdvisor(position, new DefaultPointcutAdvisor(lock.getPointcut(), INSTANCE));
		return true;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		BodyTransaction.begun();
		return invocation.proceed();
	}

}
