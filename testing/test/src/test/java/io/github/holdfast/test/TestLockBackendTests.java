package io.github.holdfast.test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LockBackendContractTests;

/**
 * The contract for the store of tests.
 */
class TestLockBackendTests extends LockBackendContractTests {

	private final TestLockBackend backend = new TestLockBackend();

	@Override
	protected LockBackend backend() {
		return this.backend;
	}

	@Override
	protected LockBackend secondBackend() {
		return this.backend;
	}

}
