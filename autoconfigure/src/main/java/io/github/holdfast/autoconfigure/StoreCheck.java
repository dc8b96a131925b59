package io.github.holdfast.autoconfigure;

/**
 * Looks at the start whether a store can keep locks. It is asked when all singletons are
 * there, and only if the application uses locks.
 */
@FunctionalInterface
interface StoreCheck {

	/**
	 * Check the store.
	 * @throws io.github.holdfast.core.LockConfigurationException if it cannot keep locks
	 */
	void check();

}
