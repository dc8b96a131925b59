package io.github.holdfast;

/**
 * Code that runs under a lock and returns nothing.
 *
 * @param <E> what the code throws
 */
@FunctionalInterface
public interface LockAction<E extends Throwable> {

	/**
	 * Does the work.
	 * @throws E on failure
	 */
	void run() throws E;

}
