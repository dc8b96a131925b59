package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.store.Deadline;

/**
 * What a holder can do with a lock that it was granted.
 */
interface Grant {

	/**
	 * Extend the lease.
	 * @param leaseTime how long from now
	 * @return completes in bounded time, with {@code false} if the lock is no longer the
	 * holder's
	 */
	CompletionStage<Boolean> renew(Duration leaseTime);

	/**
	 * Whether anybody else waits for the lock. Default: unknown, which counts as yes.
	 */
	default CompletionStage<Boolean> othersWait() {
		return CompletableFuture.completedStage(true);
	}

	/**
	 * Give the lock back, again and again if Redis fails.
	 * @param end when it has run out at the latest
	 * @return {@code false} if it was no longer the holder's
	 */
	CompletableFuture<Boolean> release(Deadline end);

}
