package io.github.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The locks that each thread holds, innermost first. A scope that was closed on another
 * thread, or out of order, is skipped and dropped.
 */
final class HeldLocks {

	private static final ThreadLocal<LockScope> INNERMOST = new ThreadLocal<>();

	private HeldLocks() {
	}

	static @Nullable LockScope current() {
		LockScope scope = INNERMOST.get();
		return (scope == null || scope.isHeld()) ? scope : dropEnded(scope);
	}

	static void push(LockScope scope) {
		INNERMOST.set(scope);
	}

	private static @Nullable LockScope dropEnded(LockScope scope) {
		LockScope held = scope.outer();
		if (held != null) {
			INNERMOST.set(held);
		}
		else {
			INNERMOST.remove();
		}
		return held;
	}

	/**
	 * Finds the scope that acquired a key which this call chain holds already.
	 * @param backend the backend that granted it
	 * @param key the stored id
	 * @return the scope, or {@code null}
	 */
	static @Nullable LockScope holder(LockBackend backend, String key) {
		for (LockScope scope = current(); scope != null; scope = scope.outer()) {
			if (scope.lease(backend, key) != null) {
				return scope;
			}
		}
		return null;
	}

}
