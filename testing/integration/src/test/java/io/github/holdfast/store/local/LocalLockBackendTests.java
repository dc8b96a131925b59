package io.github.holdfast.store.local;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LockBackendContractTests;

/** The contract on locks in this JVM. */
class LocalLockBackendTests extends LockBackendContractTests {

	@Override
	protected LockBackend backend() {
		return new LocalLockBackend();
	}

	@Override
	protected LockBackend secondBackend() {
		return new LocalLockBackend();
	}

}
