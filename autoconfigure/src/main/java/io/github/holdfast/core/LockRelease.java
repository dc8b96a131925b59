package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.holdfast.LockException;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockListener.Outcome;

/**
 * Gives the leases of one call back: the last one first, even if one of them fails.
 */
final class LockRelease {

	private static final Logger logger = Loggers.TEMPLATE;

	private final Terms terms;

	private final LockEvents events;

	private @Nullable String lost;

	LockRelease(Terms terms, LockEvents events) {
		this.terms = terms;
		this.events = events;
	}

	/**
	 * Give leases back.
	 * @return how it ended, the worst of all, when the store has answered
	 */
	CompletionStage<Outcome> run(List<HeldLease> leases) {
		CompletionStage<Outcome> worst = run(leases.get(leases.size() - 1));
		for (int i = leases.size() - 2; i >= 0; i--) {
			worst = worst.thenCombine(run(leases.get(i)), (one, other) -> (one.compareTo(other) > 0) ? one : other);
		}
		return worst;
	}

	/**
	 * The key of a lease that was lost before, or may have been, or {@code null} if there
	 * is none, or the answer has not come yet.
	 */
	@Nullable String lost() {
		return this.lost;
	}

	/**
	 * Give one lease back, or leave it behind. A failure of the store is logged, as the
	 * lease runs out.
	 */
	private CompletionStage<Outcome> run(HeldLease lease) {
		if (this.terms.outcomeUnknown) {
			lease.releaseWhenRunOut();
			logger.warn("Lock {} is not released but kept for its lease time, as the outcome of a commit under it "
					+ "is unknown", LockException.quote(lease.key()));
			return CompletableFuture.completedFuture(Outcome.KEPT);
		}
		Duration rest = this.terms.bodyHasRun ? lease.restOfMinHoldTime() : Duration.ZERO;
		if (!rest.isZero()) {
			return CompletableFuture.completedFuture(hold(lease, rest));
		}
		if (this.terms.canBeHandedOver && lease.handOver()) {
			return CompletableFuture.completedFuture(ended(lease, true, null));
		}
		return release(lease);
	}

	private CompletionStage<Outcome> release(HeldLease lease) {
		boolean runOut = lease.hasRunOut();
		try {
			CompletableFuture<Boolean> answer = lease.release().toCompletableFuture();
			if (!this.terms.awaited && !answer.isDone()) {
				return answer.handleAsync((released, ex) -> ended(lease, Boolean.TRUE.equals(released), ex),
						this.events.thread());
			}
			boolean released = answer.join();
			if (!released) {
				this.lost = lease.key();
			}
			return CompletableFuture.completedFuture(ended(lease, released, null));
		}
		catch (RuntimeException | Error ex) {
			failed(lease, runOut);
			return CompletableFuture.completedFuture(ended(lease, false, ex));
		}
	}

	/**
	 * If the store fails, nobody knows whether a lease that had run out before is that of
	 * another holder by now.
	 */
	private void failed(HeldLease lease, boolean runOut) {
		if (runOut) {
			this.lost = lease.key();
		}
	}

	/**
	 * What has failed, without what it was wrapped in on its way.
	 */
	static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	private Outcome hold(HeldLease lease, Duration rest) {
		boolean runOut = lease.hasRunOut();
		try {
			if (lease.hold(rest)) {
				logger.trace("Lock {} is held for another {} ms, its minimum hold time",
						LockException.quote(lease.key()), rest.toMillis());
				return Outcome.HELD;
			}
			this.lost = lease.key();
			return ended(lease, false, null);
		}
		catch (RuntimeException | Error ex) {
			logger.warn("Lock {} could not be held for its minimum hold time, trying again",
					LockException.quote(lease.key()), ex);
			failed(lease, runOut);
			this.events.storeFailed(Operation.RELEASE, ex);
			return Outcome.FAILED;
		}
	}

	private Outcome ended(HeldLease lease, boolean released, @Nullable Throwable answer) {
		if (answer != null) {
			Throwable failure = cause(answer);
			logger.warn("Lock {} could not be released, it runs out by itself unless another attempt succeeds",
					LockException.quote(lease.key()), failure);
			this.events.storeFailed(Operation.RELEASE, failure);
			return Outcome.FAILED;
		}
		if (released) {
			return Outcome.RELEASED;
		}
		if (!this.terms.lossReported) {
			logger.warn("Lock {} was already lost when it was released{}", LockException.quote(lease.key()),
					this.terms.guarded ? "; the commit under it was guarded" : "");
		}
		this.events.lost(lease.key());
		return Outcome.LOST;
	}

	/**
	 * What is known at the end of a call.
	 *
	 * @param bodyHasRun whether a minimum hold time counts
	 * @param outcomeUnknown whether a commit may still be carried out
	 * @param canBeHandedOver whether the next thread of this JVM may have the leases
	 * @param awaited whether the answers are waited for: nobody needs to know whether the
	 * lock was still held if nothing was done after the commit that was checked
	 * @param guarded whether a commit was checked
	 * @param lossReported whether the caller knows of a loss
	 */
	record Terms(boolean bodyHasRun, boolean outcomeUnknown, boolean canBeHandedOver, boolean awaited, boolean guarded,
			boolean lossReported) {
	}

}
