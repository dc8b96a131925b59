package io.github.holdfast.contract;

import io.github.holdfast.LockBackend;

/** Runs the contract on a custom backend. */
class MapLockBackendTests extends LeaseExpiryContractTests {

	private final MapStore store = new MapStore();

	private final LockBackend backend = new MapLockBackend(this.store);

	private final LockBackend secondBackend = new MapLockBackend(this.store);

	@Override
	protected LockBackend backend() {
		return this.backend;
	}

	@Override
	protected LockBackend secondBackend() {
		return this.secondBackend;
	}

}
