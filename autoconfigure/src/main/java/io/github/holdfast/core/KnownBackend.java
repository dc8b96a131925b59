package io.github.holdfast.core;

import java.util.List;

import io.github.holdfast.LockBackend;

/**
 * A backend with what never changes about it and matters at each call.
 *
 * @param backend the backend
 * @param inThisJvm whether its locks are those of this JVM only
 * @param canClaim whether the transactions of bodies can claim its locks
 */
record KnownBackend(LockBackend backend, boolean inThisJvm, boolean canClaim) {

	static KnownBackend of(LockBackend backend, List<LockRule> rules) {
		boolean canClaim = rules.stream().anyMatch((rule) -> rule instanceof ClaimRule claims && claims.isFor(backend));
		return new KnownBackend(backend, backend.capabilities().contains(LockBackend.Capability.IN_PROCESS), canClaim);
	}

	/**
	 * The owner of an acquisition by the current thread.
	 * @param name the name of the lock that it asks for
	 */
	LockOwner owner(String name) {
		return LockOwner.ofCurrentThread(name, this.inThisJvm);
	}

}
