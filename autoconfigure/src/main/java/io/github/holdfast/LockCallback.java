package io.github.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs under a lock and returns a result.
 *
 * @param <T> the type of the result
 * @param <E> what the code throws
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Does the work.
	 * @return the result
	 * @throws E on failure
	 */
	T call() throws E;

}
