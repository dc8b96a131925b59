package io.github.holdfast.store;

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

	final Barging barging;

	/** Whether a single attempt waits for a release. */
	boolean queued;

	volatile KeyedPermits<T>.@Nullable Permit permit;

	/**
	 * Create one that is not in the queue yet, for the current thread.
	 * @param fair whether nobody is to barge in before it
	 * @param longestBarging how long after the first one others can barge in
	 */
	PermitWaiter(boolean fair, Duration longestBarging) {
		this.fair = fair;
		this.barging = new Barging(longestBarging);
	}

	/**
	 * Take what was granted, unless another one has barged in.
	 */
	KeyedPermits<T>.@Nullable Permit claim() {
		KeyedPermits<T>.Permit granted = this.permit;
		return (granted != null && granted.state.claim()) ? granted : null;
	}

}
