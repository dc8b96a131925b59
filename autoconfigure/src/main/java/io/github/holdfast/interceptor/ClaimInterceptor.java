package io.github.holdfast.interceptor;

import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockGuard.PendingLease;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The first advice inside of the transaction of a locked method. It throws what the claim
 * of the transaction ended with, so that the body does not run and the transaction is
 * rolled back as by any exception.
 */
final class ClaimInterceptor implements MethodInterceptor {

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockCall.throwClaimFailure();
		LockCall call = LockCall.current();
		if (call != null) {
			call.grants().forEach((grant) -> checkTaken(grant, call));
		}
		return invocation.proceed();
	}

	/**
	 * A transaction of a manager other than the expected one would run without the lock.
	 */
	private static void checkTaken(Grant grant, LockCall call) {
		if (grant.lease() instanceof PendingLease pending && !pending.isTaken()) {
			throw new IllegalStateException("Lock '" + call.name() + "' was to be taken by the transaction of its "
					+ "method, but the transaction has begun without it. Name the transaction manager in "
					+ "@Transactional");
		}
	}

}
