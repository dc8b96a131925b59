package io.github.holdfast.transaction;

import io.github.holdfast.core.ClaimRefusedException;
import io.github.holdfast.core.ClaimRule;
import io.github.holdfast.core.HeldLock;

/**
 * Claims locks in the transaction that has just begun.
 *
 * @since 0.1.0
 */
public final class FenceClaimRule implements ClaimRule {

	@Override
	public void claim(HeldLock lock) {
		RunningTransaction running = RunningTransaction.current();
		if (running == null) {
			throw ClaimRefusedException.always(lock, "their transaction is not known");
		}
		running.claim(lock);
	}

}
