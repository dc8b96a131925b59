package io.github.holdfast.transaction;

import java.util.function.Predicate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.ClaimRefusedException;
import io.github.holdfast.core.ClaimRule;
import io.github.holdfast.core.HeldLock;

/**
 * Claims locks in the transaction that has just begun.
 *
 * @since 0.2.0
 */
public final class FenceClaimRule implements ClaimRule {

	private final Predicate<LockBackend> backends;

	/**
	 * Create a rule.
	 * @param backends tells whose locks have rows that a transaction can claim
	 */
	public FenceClaimRule(Predicate<LockBackend> backends) {
		this.backends = backends;
	}

	@Override
	public boolean isFor(LockBackend backend) {
		return this.backends.test(backend);
	}

	@Override
	public void claim(HeldLock lock) {
		RunningTransaction running = TransactionStack.current();
		if (running == null) {
			throw ClaimRefusedException.always(lock, "their transaction is not known");
		}
		running.claim(lock);
	}

}
