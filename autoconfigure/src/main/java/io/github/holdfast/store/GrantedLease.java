package io.github.holdfast.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * A lease that knows which request it was granted to, and with which epoch, and tells the
 * local queue whether others wait for the lock.
 *
 * @since 0.2.0
 */
public abstract class GrantedLease implements LockLease {

	private final LockRequest request;

	private final long epoch;

	/**
	 * Create a lease.
	 * @param request what was asked for
	 * @param epoch the epoch of the grant
	 */
	protected GrantedLease(LockRequest request, long epoch) {
		this.request = request;
		this.epoch = epoch;
	}

	/**
	 * What was asked for.
	 * @return the request
	 */
	protected final LockRequest request() {
		return this.request;
	}

	/**
	 * Asks the store whether anybody else waits for the lock, without waiting for the
	 * answer. Once the lock is released, what the answer to the release has told.
	 * Default: unknown, which counts as yes.
	 * @return completes with {@code false} if nobody waits as far as the store knows, or
	 * exceptionally if the store did not answer
	 */
	public CompletionStage<Boolean> othersWait() {
		return CompletableFuture.completedStage(true);
	}

	@Override
	public final String key() {
		return this.request.key();
	}

	@Override
	public final String owner() {
		return this.request.owner();
	}

	@Override
	public final long epoch() {
		return this.epoch;
	}

}
