package io.github.holdfast.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;

import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockCallback;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.LockSettings;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * Calls a method under its locks.
 */
final class LockInterceptor implements MethodInterceptor {

	private final LockOperationSource source;

	private final DistributedLockAdvisor advisor;

	LockInterceptor(LockOperationSource source, DistributedLockAdvisor advisor) {
		this.source = source;
		this.advisor = advisor;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockOperation operation = operation(invocation);
		Collection<String> keys = operation.keys(invocation.getArguments());
		if (keys.isEmpty()) {
			return invocation.proceed();
		}
		Body body = new Body((ProxyMethodInvocation) invocation, mayRepeat(operation.settings()));
		try {
			return this.source.manager().execute(keys, operation.settings(), body);
		}
		catch (LockNotAcquiredException ex) {
			if (ex == body.thrown) {
				throw ex;
			}
			return proceedWithout(operation, body.invocation, ex);
		}
	}

	private LockOperation operation(MethodInvocation invocation) {
		Object target = invocation.getThis();
		Method method = invocation.getMethod();
		LockOperation operation = this.source.get(method,
				(target != null) ? AopProxyUtils.ultimateTargetClass(target) : method.getDeclaringClass());
		Assert.state(operation != null, "The pointcut matches only locked methods");
		return this.advisor.ofBean(operation);
	}

	/**
	 * Whether a transaction that did not get its locks, or met a conflict, may begin
	 * again.
	 */
	private static boolean mayRepeat(LockSettings settings) {
		BodyTransaction transaction = settings.transaction();
		return settings.mode() == LockMode.OPTIMISTIC || (transaction != null && transaction.innermost());
	}

	/**
	 * Does what the annotation asks for when other callers have kept the lock.
	 */
	private static @Nullable Object proceedWithout(LockOperation operation, ProxyMethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		boolean busy = ex.reason() == Reason.BUSY || ex.reason() == Reason.CONFLICT;
		Method fallback = operation.fallback();
		if (busy && fallback != null) {
			return callThroughProxy(fallback, invocation, ex);
		}
		if (busy && operation.onBusy() == OnBusy.SKIP) {
			return operation.skipped();
		}
		throw ex;
	}

	private static @Nullable Object callThroughProxy(Method fallback, ProxyMethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		Object proxy = invocation.getProxy();
		@Nullable Object[] arguments = Arrays.copyOf(invocation.getArguments(), fallback.getParameterCount());
		if (arguments.length > invocation.getArguments().length) {
			arguments[arguments.length - 1] = ex;
		}
		Method callable = LockOperationSource.callable(fallback, proxy);
		Assert.state(callable != null, () -> "The fallback method '" + fallback.getName()
				+ "' is not on an interface of the bean's JDK proxy");
		ReflectionUtils.makeAccessible(callable);
		try {
			return callable.invoke(proxy, arguments);
		}
		catch (InvocationTargetException failure) {
			throw failure.getTargetException();
		}
	}

	/**
	 * The rest of a call. Each attempt of one that may be repeated goes through all
	 * advice inside of the lock again, and so has its own transaction.
	 */
	private static final class Body implements LockCallback<@Nullable Object, Throwable> {

		private final ProxyMethodInvocation invocation;

		private final boolean mayRepeat;

		/** Not acquired was another lock, inside of the method. */
		private @Nullable LockNotAcquiredException thrown;

		Body(ProxyMethodInvocation invocation, boolean mayRepeat) {
			this.invocation = invocation;
			this.mayRepeat = mayRepeat;
		}

		@Override
		public @Nullable Object call() throws Throwable {
			try {
				return (this.mayRepeat ? this.invocation.invocableClone() : this.invocation).proceed();
			}
			catch (LockNotAcquiredException ex) {
				this.thrown = ex;
				throw ex;
			}
		}

	}

}
