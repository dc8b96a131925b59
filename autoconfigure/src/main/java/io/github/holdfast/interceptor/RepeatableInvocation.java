package io.github.holdfast.interceptor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;

/**
 * A call of a method that may be attempted several times. Each attempt goes through all
 * advices inside of the lock again, and so has a transaction of its own.
 */
final class RepeatableInvocation implements LockTemplate.Body<@Nullable Object, Throwable> {

	private final ProxyMethodInvocation invocation;

	private @Nullable LockNotAcquiredException thrown;

	RepeatableInvocation(ProxyMethodInvocation invocation) {
		this.invocation = invocation;
	}

	@Override
	public @Nullable Object call() throws Throwable {
		try {
			return this.invocation.invocableClone().proceed();
		}
		catch (LockNotAcquiredException ex) {
			this.thrown = ex;
			throw ex;
		}
	}

	/**
	 * Whether an exception is that of another lock, inside of the method.
	 */
	boolean hasThrown(LockNotAcquiredException ex) {
		return this.thrown == ex;
	}

}
