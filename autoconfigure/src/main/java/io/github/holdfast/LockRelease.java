package io.github.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the leases of one call are given back.
 *
 * @param keep whether they are kept, as the outcome of a commit is unknown
 * @param hold whether a minimum hold time counts, as the body has run
 * @param later gets the release whose answer the caller does not wait for, or
 * {@code null} if it waits for each
 * @param guarded whether a commit under them was checked
 * @param lossReported whether the caller knows of a loss already
 * @param passable whether the next thread of this JVM may have them
 */
record LockRelease(boolean keep, boolean hold, @Nullable Consumer<CompletionStage<?>> later, boolean guarded,
		boolean lossReported, boolean passable) {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	/**
	 * Give one lease back, or leave it behind. A failure of the store is logged, as the
	 * lease runs out.
	 * @param renewal the lease with its renewal
	 * @param key the key as the caller gave it
	 * @return how it ended
	 */
	LockListener.Outcome run(LockRenewal.Task renewal, String key) {
		if (this.keep) {
			renewal.releaseWhenRunOut();
			logger.warn("Lock {} is not released but kept for its lease time, as the outcome of a commit under it "
					+ "is unknown", LockException.quote(key));
			return LockListener.Outcome.KEPT;
		}
		Duration rest = this.hold ? renewal.restOfMinHoldTime() : Duration.ZERO;
		if (!rest.isZero()) {
			return hold(renewal, key, rest);
		}
		if (passOn(renewal, key)) {
			return LockListener.Outcome.RELEASED;
		}
		try {
			CompletionStage<Boolean> release = renewal.release();
			if (this.later == null) {
				return ended(key, release.toCompletableFuture().join(), null);
			}
			this.later.accept(release.handle((released, ex) -> ended(key, Boolean.TRUE.equals(released), ex)));
			return LockListener.Outcome.RELEASED;
		}
		catch (RuntimeException ex) {
			return ended(key, false, (ex instanceof CompletionException) ? ex.getCause() : ex);
		}
	}

	/**
	 * Pass one lease on to the next thread of this JVM, if that is allowed.
	 * @param renewal the lease with its renewal
	 * @param key the key as the caller gave it
	 * @return whether it was passed on
	 */
	boolean passOn(LockRenewal.Task renewal, String key) {
		boolean allowed = this.passable && !this.keep && (!this.hold || renewal.restOfMinHoldTime().isZero());
		if (allowed && renewal.passOn()) {
			ended(key, true, null);
			return true;
		}
		return false;
	}

	private LockListener.Outcome hold(LockRenewal.Task renewal, String key, Duration rest) {
		try {
			if (renewal.hold(rest)) {
				logger.debug("Lock {} is held for another {} ms, its minimum hold time", LockException.quote(key),
						rest.toMillis());
				return LockListener.Outcome.HELD;
			}
			return ended(key, false, null);
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be held for its minimum hold time, trying again", LockException.quote(key),
					ex);
			return LockListener.Outcome.FAILED;
		}
	}

	private LockListener.Outcome ended(String key, boolean released, @Nullable Throwable failure) {
		if (failure != null) {
			logger.warn("Lock {} could not be released, it runs out by itself", LockException.quote(key), failure);
			return LockListener.Outcome.FAILED;
		}
		if (released) {
			if (logger.isDebugEnabled()) {
				logger.debug("Lock {} released", LockException.quote(key));
			}
			return LockListener.Outcome.RELEASED;
		}
		if (!this.lossReported) {
			logger.warn("Lock {} was already lost when it was released{}", LockException.quote(key),
					this.guarded ? "; the commit under it was guarded" : "");
		}
		return LockListener.Outcome.LOST;
	}

}
