package io.github.holdfast.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What a holder can do with a lock that it was granted.
 */
interface Grant {

	/**
	 * Extend the lease.
	 * @param leaseTime how long from now
	 * @return {@code false} if the lock is no longer the holder's
	 */
	boolean renew(Duration leaseTime);

	/**
	 * Give the lock back.
	 * @return {@code false} if it was no longer the holder's
	 */
	CompletableFuture<Boolean> release();

}
