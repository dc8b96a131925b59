package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;

/**
 * What the annotation on a method says, with everything resolved that does not depend on
 * the call.
 *
 * @param method the method of the target class
 * @param location the method and its class, for messages
 * @param template takes the locks as the annotation says
 * @param mode how the lock is shared
 * @param key gives the keys
 * @param condition decides whether a lock is needed, or {@code null} for always
 * @param onBusy what to do when the lock is busy
 * @param fallback what to call then, or {@code null} for nothing
 * @param parameterNames the names of the parameters, empty if they are not known
 * @param checksResult whether only the result tells that its work is done later
 */
public record LockOperation(Method method, String location, LockTemplate template, LockRequest.Mode mode,
		LockExpression key, @Nullable LockExpression condition, DistributedLock.OnBusy onBusy,
		@Nullable Method fallback, List<String> parameterNames, boolean checksResult) {

	boolean needsLock(EvaluationContext context) {
		LockExpression condition = this.condition;
		return condition == null || evaluate(condition, () -> condition.isTrue(context));
	}

	List<String> keys(EvaluationContext context) {
		return evaluate(this.key, () -> this.key.keys(context));
	}

	private <T> T evaluate(LockExpression expression, Supplier<T> evaluation) {
		try {
			return evaluation.get();
		}
		catch (RuntimeException ex) {
			if (!LockExpression.isFailure(ex)) {
				throw ex;
			}
			throw new IllegalArgumentException("The expression \"" + expression + "\" of @DistributedLock on "
					+ this.location + " gives no key: " + ex.getMessage(), ex);
		}
	}

	/**
	 * What a skipped call returns.
	 */
	@Nullable Object skipped() {
		return (this.method.getReturnType() == Optional.class) ? Optional.empty() : null;
	}

}
