package io.github.holdfast.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A thread in the queue for a permit. Touched only while its key is locked, but for what
 * its own thread claims.
 *
 * @param <T> what a permit may bring along
 */
final class PermitWaiter<T> {

	final Thread thread = Thread.currentThread();

	final boolean fair;

	final Overtakings overtakings;

	/** Whether a single attempt waits for a release. */
	boolean queued;

	volatile KeyedPermits<T>.@Nullable Permit permit;

	/**
	 * Create one that is not in the queue yet, for the current thread.
	 * @param fair whether it is not to be overtaken
	 * @param longestOvertaking how long after the first time it can be overtaken again
	 */
	PermitWaiter(boolean fair, Duration longestOvertaking) {
		this.fair = fair;
		this.overtakings = new Overtakings(longestOvertaking);
	}

	/**
	 * Take what was granted, unless another one has overtaken this one.
	 */
	KeyedPermits<T>.@Nullable Permit claim() {
		KeyedPermits<T>.Permit granted = this.permit;
		return (granted != null && granted.state.claim()) ? granted : null;
	}

}
