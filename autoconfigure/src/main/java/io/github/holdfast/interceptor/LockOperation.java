package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.LockSettings;
import org.jspecify.annotations.Nullable;

/**
 * What the annotation of a method says, with everything resolved that does not depend on
 * the call.
 *
 * @param method the method of the target class
 * @param location the method and its class, for messages
 * @param settings how to take the locks; their transaction is the one that the method
 * declares
 * @param key gives the keys
 * @param condition decides whether a lock is needed, or {@code null} for always
 * @param onBusy what to do when the lock is busy
 * @param fallback the method to call then, or {@code null} for none
 */
public record LockOperation(Method method, String location, LockSettings settings, LockExpression key,
		@Nullable LockExpression condition, OnBusy onBusy, @Nullable Method fallback) {

	LockOperation withTransaction(BodyTransaction transaction) {
		return new LockOperation(this.method, this.location, this.settings.withTransaction(transaction), this.key,
				this.condition, this.onBusy, this.fallback);
	}

	/**
	 * Evaluates the keys of a call.
	 * @param arguments the arguments
	 * @return the keys; none if the call needs no lock
	 */
	Collection<String> keys(@Nullable Object[] arguments) {
		boolean needed = this.settings.enabled() && (this.condition == null || this.condition.isTrue(arguments));
		return needed ? this.key.keys(arguments) : List.of();
	}

	/**
	 * The result of a skipped call.
	 */
	@Nullable Object skipped() {
		return (this.method.getReturnType() == Optional.class) ? Optional.empty() : null;
	}

}
