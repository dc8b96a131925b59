package io.github.holdfast.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockLease;

/**
 * A lease of a store that tells the local queue when to hand it over to another thread
 * and when to give it back.
 *
 * @since 0.2.0
 */
public interface HandoverLease extends LockLease {

	/**
	 * Asks the store whether anybody else waits for the lock, without waiting for the
	 * answer. Once the lock is released, what the answer to the release has told.
	 * Default: unknown, which counts as yes.
	 * @return completes with {@code false} if nobody waits as far as the store knows, or
	 * exceptionally if the store did not answer
	 */
	default CompletionStage<Boolean> othersWait() {
		return CompletableFuture.completedStage(true);
	}

	/**
	 * Whether nothing of the current holder is left that still uses the lease, as far as
	 * the backend knows, so that another thread may have it. Does no I/O. Default: yes.
	 * @return {@code false} if the lock has to be given back to the store
	 */
	default boolean canBeHandedOver() {
		return true;
	}

}
