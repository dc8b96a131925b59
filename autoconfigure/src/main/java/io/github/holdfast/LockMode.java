package io.github.holdfast;

/**
 * How the holders of a key share it.
 */
public enum LockMode {

	/** One holder at a time. */
	EXCLUSIVE,

	/**
	 * Several shared holders at a time, but no exclusive holder beside them. Needs a
	 * backend with {@link LockBackend.Capability#SHARED}.
	 */
	SHARED,

	/**
	 * Nobody waits. The body runs at once and its transaction commits only if no other
	 * holder of the key has committed since; otherwise it is rolled back and the body
	 * runs again. Needs {@code holdfast.commit-guard: fence}.
	 */
	OPTIMISTIC

}
