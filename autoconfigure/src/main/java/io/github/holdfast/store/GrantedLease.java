package io.github.holdfast.store;

import io.github.holdfast.LockRequest;

/**
 * A lease that knows which request it was granted to, and with which epoch.
 *
 * @since 0.2.0
 */
public abstract class GrantedLease implements HandoverLease {

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
