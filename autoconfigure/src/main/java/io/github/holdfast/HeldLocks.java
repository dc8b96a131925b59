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
	 * Finds the lease of a key that this call chain holds already. An exclusive lock
	 * covers all modes, any other one only its own.
	 * @param backend the backend that granted it
	 * @param key the stored id
	 * @param mode what is asked for
	 * @return the lease, or {@code null}
	 * @throws IllegalStateException if the lock that is held does not cover the mode
	 */
	static @Nullable LockLease find(LockBackend backend, String key, LockRequest.Mode mode) {
		for (LockScope scope = current(); scope != null; scope = scope.outer()) {
			LockLease lease = scope.lease(backend, key);
			if (lease != null) {
				if (scope.mode() != LockRequest.Mode.EXCLUSIVE && scope.mode() != mode) {
					throw new IllegalStateException("Lock " + LockException.quote(key) + " is asked for as " + mode
							+ ", but an outer call of the same chain (" + scope.name() + ") has it as " + scope.mode()
							+ " and cannot change that. Let the outer call ask for " + mode);
				}
				return lease;
			}
		}
		return null;
	}

}
