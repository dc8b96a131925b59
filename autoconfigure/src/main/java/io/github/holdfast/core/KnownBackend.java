package io.github.holdfast.core;

import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;

import io.github.holdfast.LockBackend;

/**
 * A backend with what never changes about it and matters at each call.
 *
 * @param backend the backend
 * @param canClaim whether the transactions of bodies can claim its locks
 * @param renewal extends its leases
 */
record KnownBackend(LockBackend backend, boolean canClaim, LockRenewal renewal) {

	static KnownBackend of(LockBackend backend, List<LockRule> rules, ScheduledThreadPoolExecutor timer) {
		boolean canClaim = rules.stream().anyMatch((rule) -> rule instanceof ClaimRule claims && claims.isFor(backend));
		return new KnownBackend(backend, canClaim, new LockRenewal(timer, backend.name()));
	}

}
