package io.github.holdfast.core;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;

/**
 * The locked calls of each thread, innermost first. A call that ended on another thread,
 * or out of order, is skipped and dropped.
 */
public final class LockStack {

	private static final ThreadLocal<LockCall> INNERMOST = new ThreadLocal<>();

	private LockStack() {
	}

	/**
	 * The innermost lock that the current thread holds.
	 * @return the lock, or {@code null} if it holds none
	 */
	public static @Nullable HeldLock current() {
		return innermost();
	}

	/**
	 * All locks that the current thread holds.
	 * @return the locks, the innermost one first
	 */
	public static List<HeldLock> all() {
		LockCall innermost = innermost();
		if (innermost == null) {
			return List.of();
		}
		List<HeldLock> all = new ArrayList<>(2);
		for (LockCall call = innermost; call != null; call = call.outer()) {
			all.add(call);
		}
		return all;
	}

	static @Nullable LockCall innermost() {
		LockCall call = INNERMOST.get();
		return (call == null || call.isHeld()) ? call : dropEnded(call);
	}

	static void push(LockCall call) {
		INNERMOST.set(call);
	}

	/**
	 * Forget the calls of the current thread that have ended.
	 */
	static void dropEnded() {
		innermost();
	}

	private static @Nullable LockCall dropEnded(LockCall ended) {
		LockCall held = ended.outer();
		if (held != null) {
			INNERMOST.set(held);
		}
		else {
			INNERMOST.remove();
		}
		return held;
	}

	/**
	 * Finds the call that acquired a key which the current thread holds already.
	 * @param backend the backend that granted it
	 * @param key the stored id
	 * @return the call, or {@code null}
	 */
	static @Nullable LockCall holder(LockBackend backend, String key) {
		for (LockCall call = innermost(); call != null; call = call.outer()) {
			if (call.lease(backend, key) != null) {
				return call;
			}
		}
		return null;
	}

}
