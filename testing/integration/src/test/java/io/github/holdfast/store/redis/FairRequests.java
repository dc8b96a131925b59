package io.github.holdfast.store.redis;

import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * Makes each request a fair one.
 */
record FairRequests(LockBackend backend) implements LockBackend {

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		return this.backend.acquire(new LockRequest(request.key(), request.name(), request.mode(), true,
				request.waitTime(), request.leaseTime(), request.owner(), request.holder(), request.minEpoch()));
	}

	@Override
	public Set<Capability> capabilities() {
		return this.backend.capabilities();
	}

}
