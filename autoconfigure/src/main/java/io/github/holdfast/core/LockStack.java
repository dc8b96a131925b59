package io.github.holdfast.core;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The locks that each thread holds, innermost first. Those that ended on another thread,
 * or out of order, are skipped and dropped.
 */
public final class LockStack {

	private static final ThreadLocal<@Nullable Entry> INNERMOST = new ThreadLocal<>();

	private LockStack() {
	}

	/**
	 * The innermost lock that the current thread holds.
	 * @return the lock, or {@code null} if it holds none
	 */
	public static @Nullable HeldLock current() {
		Entry innermost = innermost();
		return (innermost != null) ? innermost.lock : null;
	}

	/**
	 * All locks that the current thread holds.
	 * @return the locks, the innermost one first
	 */
	public static List<HeldLock> all() {
		Entry innermost = innermost();
		if (innermost == null) {
			return List.of();
		}
		if (innermost.outer == null) {
			return List.of(innermost.lock);
		}
		List<HeldLock> all = new ArrayList<>(2);
		for (Entry entry = innermost; entry != null; entry = entry.outer) {
			if (entry.lock.isHeld()) {
				all.add(entry.lock);
			}
		}
		return all;
	}

	static void push(HeldLock lock) {
		INNERMOST.set(new Entry(lock, innermost()));
	}

	/**
	 * Forget the locks of the current thread that have ended.
	 */
	static void dropEnded() {
		innermost();
	}

	private static @Nullable Entry innermost() {
		Entry innermost = INNERMOST.get();
		if (innermost == null || innermost.lock.isHeld()) {
			return innermost;
		}
		Entry held = innermost.outer;
		while (held != null && !held.lock.isHeld()) {
			held = held.outer;
		}
		// If there is none, the entry of the thread stays, as making it anew costs more
		INNERMOST.set(held);
		return held;
	}

	private record Entry(HeldLock lock, @Nullable Entry outer) {
	}

}
