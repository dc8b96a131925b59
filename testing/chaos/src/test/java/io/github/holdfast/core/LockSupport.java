package io.github.holdfast.core;

import org.jspecify.annotations.Nullable;

/**
 * What the core uses of the class of the JDK, in the time of the {@link World}.
 */
final class LockSupport {

	private LockSupport() {
	}

	static void parkNanos(long nanos) {
		World.parkNanos(nanos);
	}

	static void unpark(@Nullable Thread thread) {
		World.unpark(thread);
	}

}
