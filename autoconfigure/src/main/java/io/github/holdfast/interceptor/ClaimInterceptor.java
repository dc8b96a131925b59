package io.github.holdfast.interceptor;

import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockGuard.PendingLease;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The first advice inside the transaction of a locked method. It throws what the claim of
 * the transaction ended with, so that the body does not run and the transaction is rolled
 * back as by any exception.
 */
final class ClaimInterceptor implements MethodInterceptor {

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockCall.throwClaimFailure();
		LockCall call = LockCall.current();
		// A transaction of a manager other than the expected one would run without the
		// lock
		Assert.state(call == null || call.grants().stream().allMatch(ClaimInterceptor::isTaken),
				"The lock was to be taken by the transaction of the method, but the transaction has begun without it. "
						+ "Name the transaction manager in @Transactional");
		return invocation.proceed();
	}

	private static boolean isTaken(Grant grant) {
		return !(grant.lease() instanceof PendingLease pending) || pending.isTaken();
	}

}
