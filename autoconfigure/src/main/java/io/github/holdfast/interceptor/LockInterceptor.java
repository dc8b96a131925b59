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
	@SuppressWarnings("try")
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target)
				: invocation.getMethod().getDeclaringClass();
		LockOperation operation = this.source.get(invocation.getMethod(), targetClass);
		Assert.state(operation != null, "The pointcut matches only locked methods");
		EvaluationContext context = this.source.context(operation, invocation.getArguments());
		if (!operation.needsLock(context)) {
			return invocation.proceed();
		}
		Collection<String> keys = operation.keys(context);
		BodyTransactions.Body body = this.source.bodies().of(operation, targetClass);
		LockTemplate template = (body != null) ? body.template() : operation.template();
		if (operation.mode() == LockRequest.Mode.OPTIMISTIC || (body != null && body.transaction().mayClaim())) {
			return proceedRepeatably(operation, template, keys, invocation);
		}
		LockTemplate.Scope acquired;
		try {
			acquired = template.acquire(keys);
		}
		catch (LockNotAcquiredException ex) {
			return proceedWithout(operation, invocation, ex);
		}
		try (LockTemplate.Scope scope = acquired) {
			return checked(invocation.proceed(), operation);
		}
	}

	private static @Nullable Object checked(@Nullable Object result, LockOperation operation) {
		if (operation.checksResult()) {
			LockMethodRules.checkResult(result, operation.location());
		}
		return result;
	}

	private static @Nullable Object proceedRepeatably(LockOperation operation, LockTemplate template,
			Collection<String> keys, MethodInvocation invocation) throws Throwable {
		RepeatableInvocation attempts = new RepeatableInvocation((ProxyMethodInvocation) invocation);
		try {
			return checked(template.execute(keys, attempts), operation);
		}
		catch (LockNotAcquiredException ex) {
			if (attempts.hasThrown(ex)) {
				throw ex;
			}
			return proceedWithout(operation, invocation, ex);
		}
	}

	/**
	 * Do what the annotation asks for when others have kept the lock.
	 */
	private static @Nullable Object proceedWithout(LockOperation operation, MethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		boolean busy = ex.reason() == LockNotAcquiredException.Reason.BUSY
				|| ex.reason() == LockNotAcquiredException.Reason.CONFLICT;
		Method fallback = operation.fallback();
		if (busy && fallback != null) {
			return callThroughProxy(fallback, invocation, ex);
		}
		if (busy && operation.onBusy() == DistributedLock.OnBusy.SKIP) {
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
