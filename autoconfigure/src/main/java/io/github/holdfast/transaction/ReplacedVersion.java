package io.github.holdfast.transaction;

import io.github.holdfast.core.HeldLock;
import io.github.holdfast.optimistic.VersionLease;

/**
 * The version of an optimistic lock that a transaction replaces.
 *
 * @param lock the lock
 * @param version its version
 */
record ReplacedVersion(HeldLock lock, VersionLease version) {

	/**
	 * Note that the transaction was committed, or may have been: the body must not run
	 * again, whatever has come before.
	 */
	void committed() {
		this.version.committed();
		this.lock.commits().replaced();
	}

}
