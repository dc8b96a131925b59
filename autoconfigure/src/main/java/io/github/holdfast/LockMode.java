package io.github.holdfast;

/**
 * How the holders of a key share it.
 */
public enum LockMode {

	/** One holder at a time. */
	EXCLUSIVE,

	/**
	 * Several shared holders at a time, but no exclusive holder at the same time. Needs a
	 * backend with {@link LockBackend.Capability#SHARED}. At
	 * {@code holdfast.commit-guard: fence}, only read-only transactions commit under it.
	 */
	SHARED,

	/**
	 * Callers wait for leases only. The body runs at once, and its transaction commits
	 * only if no other holder of the key has committed since. Otherwise it is rolled
	 * back, and the body runs again. Needs {@code holdfast.backend: jdbc} and
	 * {@code holdfast.commit-guard: fence}.
	 */
	OPTIMISTIC

}
