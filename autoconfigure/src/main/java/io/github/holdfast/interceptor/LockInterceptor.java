package io.github.holdfast.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.util.Assert;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;

/**
 * Calls a method under its locks.
 */
final class LockInterceptor implements MethodInterceptor {

	private final LockOperationSource source;

	LockInterceptor(LockOperationSource source) {
		this.source = source;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		LockOperation operation = this.source.get(invocation.getMethod(),
				(target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass());
		Assert.state(operation != null, "The pointcut matches only locked methods");
		EvaluationContext context = this.source.context(operation, invocation.getArguments());
		if (!operation.needsLock(context)) {
			return invocation.proceed();
		}
		Collection<String> keys = operation.keys(context);
		return (operation.mode() == LockRequest.Mode.OPTIMISTIC) ? proceedOptimistically(operation, invocation, keys)
				: proceedLocked(operation, invocation, keys);
	}

	@SuppressWarnings("try")
	private static @Nullable Object proceedLocked(LockOperation operation, MethodInvocation invocation,
			Collection<String> keys) throws Throwable {
		LockTemplate.Scope acquired;
		try {
			acquired = operation.template().acquire(keys);
		}
		catch (LockNotAcquiredException ex) {
			return notAcquired(operation, invocation, ex);
		}
		try (LockTemplate.Scope scope = acquired) {
			return invocation.proceed();
		}
	}

	private static @Nullable Object proceedOptimistically(LockOperation operation, MethodInvocation invocation,
			Collection<String> keys) throws Throwable {
		OptimisticInvocation attempts = new OptimisticInvocation((ProxyMethodInvocation) invocation);
		try {
			return operation.template().execute(keys, attempts);
		}
		catch (LockNotAcquiredException ex) {
			if (attempts.hasThrown(ex)) {
				throw ex;
			}
			return notAcquired(operation, invocation, ex);
		}
	}

	private static @Nullable Object notAcquired(LockOperation operation, MethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		return switch (ex.reason()) {
			case BUSY, CONFLICT -> busy(operation, invocation, ex);
			default -> throw ex;
		};
	}

	private static @Nullable Object busy(LockOperation operation, MethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		Method fallback = operation.fallback();
		if (fallback != null) {
			return callThroughProxy(fallback, invocation, ex);
		}
		if (operation.onBusy() == DistributedLock.OnBusy.SKIP) {
			return operation.skipped();
		}
		throw ex;
	}

	private static @Nullable Object callThroughProxy(Method fallback, MethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		Object proxy = ((ProxyMethodInvocation) invocation).getProxy();
		@Nullable Object[] arguments = Arrays.copyOf(invocation.getArguments(), fallback.getParameterCount());
		if (arguments.length > invocation.getArguments().length) {
			arguments[arguments.length - 1] = ex;
		}
		try {
			return AopUtils.selectInvocableMethod(fallback, proxy.getClass()).invoke(proxy, arguments);
		}
		catch (InvocationTargetException failure) {
			throw failure.getTargetException();
		}
	}

}
