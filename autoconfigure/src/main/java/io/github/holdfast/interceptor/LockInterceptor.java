package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.core.LockSettings.BodyTransaction;
import io.github.holdfast.interceptor.LockOperationSource.LockOperation;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;

/**
 * Calls a method under its locks.
 */
final class LockInterceptor implements MethodInterceptor {

	private static final String CALL = LockCall.class.getName();

	private final LockOperationSource source;

	private final Map<Method, LockOperation> operations;

	/**
	 * Create an interceptor.
	 * @param source knows the annotated methods
	 * @param operations the operations that a bean has instead of the ones of its class
	 */
	LockInterceptor(LockOperationSource source, Map<Method, LockOperation> operations) {
		this.source = source;
		this.operations = operations;
	}

	LockOperation ofBean(LockOperation operation) {
		return this.operations.getOrDefault(operation.method(), operation);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(Objects.requireNonNull(invocation.getThis()));
		LockOperation operation = ofBean(Objects.requireNonNull(this.source.get(invocation.getMethod(), targetClass)));
		Collection<String> keys = operation.keys(invocation.getArguments());
		if (keys.isEmpty()) {
			return invocation.proceed();
		}
		AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
		try {
			return this.source.manager()
				.<@Nullable Object, Throwable>execute(keys, operation.settings(),
						() -> proceed((ProxyMethodInvocation) invocation, mayRepeat(operation.settings()), thrown));
		}
		catch (LockNotAcquiredException ex) {
			boolean busy = ex != thrown.get() && (ex.reason() == Reason.BUSY || ex.reason() == Reason.CONFLICT);
			if (busy && operation.fallback() != null) {
				return callThroughProxy(operation.fallback(), (ProxyMethodInvocation) invocation, ex);
			}
			if (busy && operation.onBusy() == OnBusy.SKIP) {
				return operation.skipped();
			}
			throw ex;
		}
	}

	/**
	 * Runs the rest of a call, which {@link InTransaction} is told of: a transaction that
	 * began earlier may have ended its locks. Each attempt of an optimistic method passes
	 * through all advice inside the lock again, so it has its own transaction.
	 * @param thrown set to the exception of another lock, inside the method
	 */
	private static @Nullable Object proceed(ProxyMethodInvocation invocation, boolean mayRepeat,
			AtomicReference<@Nullable Throwable> thrown) throws Throwable {
		invocation.setUserAttribute(CALL, LockCall.current());
		try {
			return (mayRepeat ? invocation.invocableClone() : invocation).proceed();
		}
		catch (LockNotAcquiredException ex) {
			thrown.set(ex);
			throw ex;
		}
	}

	/**
	 * Whether a transaction that did not get its locks, or met a conflict, may begin
	 * again.
	 */
	private static boolean mayRepeat(LockSettings settings) {
		BodyTransaction transaction = settings.transaction();
		return settings.mode() == LockMode.OPTIMISTIC || (transaction != null && transaction.innermost());
	}

	private static @Nullable Object callThroughProxy(Method fallback, ProxyMethodInvocation invocation,
			LockNotAcquiredException ex) throws Throwable {
		Object proxy = invocation.getProxy();
		@Nullable Object[] arguments = Arrays.copyOf(invocation.getArguments(), fallback.getParameterCount());
		if (arguments.length > invocation.getArguments().length) {
			arguments[arguments.length - 1] = ex;
		}
		Method callable = Objects.requireNonNull(LockOperationSource.callable(fallback, proxy),
				() -> "Declare the fallback method '" + fallback.getName() + "' on an interface of the JDK proxy");
		return AopUtils.invokeJoinpointUsingReflection(proxy, callable, arguments);
	}

	/**
	 * The first advice inside the transaction of a locked method. It throws what the
	 * claim of the transaction ended with, so that the body does not run and the
	 * transaction is rolled back as by any exception.
	 */
	static final class InTransaction implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			LockCall call = (LockCall) ((ProxyMethodInvocation) invocation).getUserAttribute(CALL);
			if (call != null) {
				call.beforeBody();
			}
			return invocation.proceed();
		}

	}

}
