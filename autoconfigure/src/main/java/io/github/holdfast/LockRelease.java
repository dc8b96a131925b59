package io.github.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the leases of one call back.
 */
final class LockRelease {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private final LockNotes notes;

	private final LockBackend backend;

	private final boolean guarded;

	private final boolean keep;

	private final boolean hold;

	private final boolean passable;

	private @Nullable String lost;

	private @Nullable CompletionStage<?> answer;

	/**
	 * Create a release.
	 * @param notes what was noted while the leases were held
	 * @param backend the backend of the leases
	 * @param guarded whether all that the body has done was committed after a check
	 * @param hold whether a minimum hold time counts, as the body has run
	 * @param passable whether the next thread of this JVM may have the leases
	 */
	LockRelease(LockNotes notes, LockBackend backend, boolean guarded, boolean hold, boolean passable) {
		this.notes = notes;
		this.backend = backend;
		this.guarded = guarded;
		this.keep = notes.isOutcomeUnknown();
		this.hold = hold;
		this.passable = passable;
	}

	/**
	 * Give leases back, the last one first, even if one of them fails.
	 * @return how it ended, the worst of all
	 */
	LockListener.Outcome run(List<AcquiredLease> leases) {
		LockListener.Outcome outcome = LockListener.Outcome.RELEASED;
		for (int i = leases.size() - 1; i >= 0; i--) {
			LockListener.Outcome each = run(leases.get(i));
			if (each == LockListener.Outcome.LOST) {
				this.lost = leases.get(i).key();
			}
			outcome = (each.compareTo(outcome) > 0) ? each : outcome;
		}
		return outcome;
	}

	/**
	 * The key of a lease that was lost before, or {@code null} if there is none.
	 */
	@Nullable String lost() {
		return this.lost;
	}

	/**
	 * Run something when the store has answered to all that the caller did not wait for.
	 */
	void whenAnswered(Runnable action) {
		if (this.answer != null) {
			this.answer.thenRun(action);
		}
		else {
			action.run();
		}
	}

	/**
	 * Give one lease back, or leave it behind. A failure of the store is logged, as the
	 * lease runs out.
	 */
	private LockListener.Outcome run(AcquiredLease lease) {
		if (this.keep) {
			lease.releaseWhenRunOut();
			logger.warn("Lock {} is not released but kept for its lease time, as the outcome of a commit under it "
					+ "is unknown", LockException.quote(lease.key()));
			return LockListener.Outcome.KEPT;
		}
		Duration rest = this.hold ? lease.restOfMinHoldTime() : Duration.ZERO;
		if (!rest.isZero()) {
			return hold(lease, rest);
		}
		if (passOn(lease)) {
			return LockListener.Outcome.RELEASED;
		}
		try {
			CompletionStage<Boolean> release = lease.release();
			if (isAwaited()) {
				return ended(lease, release.toCompletableFuture().join(), null);
			}
			answeredLater(release.handle((released, ex) -> ended(lease, Boolean.TRUE.equals(released), ex)));
			return LockListener.Outcome.RELEASED;
		}
		catch (RuntimeException | Error ex) {
			return ended(lease, false, (ex instanceof CompletionException) ? ex.getCause() : ex);
		}
	}

	/**
	 * Nobody needs to know whether the lock was still held if nothing was done after the
	 * commit that was checked.
	 */
	private boolean isAwaited() {
		return !this.guarded || !this.backend.capabilities().contains(LockBackend.Capability.RELEASE_NOT_AWAITED);
	}

	private void answeredLater(CompletionStage<?> answer) {
		this.answer = (this.answer != null) ? this.answer.thenCombine(answer, (first, second) -> second) : answer;
	}

	/**
	 * Pass one lease on to the next thread of this JVM, if that is allowed.
	 * @return whether it was passed on
	 */
	boolean passOn(AcquiredLease lease) {
		boolean allowed = this.passable && !this.keep && (!this.hold || lease.restOfMinHoldTime().isZero());
		if (allowed && lease.passOn()) {
			ended(lease, true, null);
			return true;
		}
		return false;
	}

	private LockListener.Outcome hold(AcquiredLease lease, Duration rest) {
		try {
			if (lease.hold(rest)) {
				logger.debug("Lock {} is held for another {} ms, its minimum hold time",
						LockException.quote(lease.key()), rest.toMillis());
				return LockListener.Outcome.HELD;
			}
			return ended(lease, false, null);
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be held for its minimum hold time, trying again",
					LockException.quote(lease.key()), ex);
			return LockListener.Outcome.FAILED;
		}
	}

	private LockListener.Outcome ended(AcquiredLease lease, boolean released, @Nullable Throwable failure) {
		if (failure != null) {
			logger.warn("Lock {} could not be released, it runs out by itself unless another attempt succeeds",
					LockException.quote(lease.key()), failure);
			return LockListener.Outcome.FAILED;
		}
		if (released) {
			if (logger.isDebugEnabled()) {
				logger.debug("Lock {} released", LockException.quote(lease.key()));
			}
			return LockListener.Outcome.RELEASED;
		}
		if (!this.notes.isLossReported()) {
			logger.warn("Lock {} was already lost when it was released{}", LockException.quote(lease.key()),
					this.notes.isGuarded() ? "; the commit under it was guarded" : "");
		}
		return LockListener.Outcome.LOST;
	}

}
