package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockLease;

/**
 * Whether other JVMs wait for the lock of a cohort, as far as the store has told.
 */
final class OtherJvms {

	private static final Logger logger = LoggerFactory.getLogger(OtherJvms.class);

	/** Of the longest time, how long it is taken for granted that nobody waits. */
	private static final int SURE = 4;

	private final LockLease lease;

	private final Duration maxTime;

	private volatile Deadline alone;

	private volatile Deadline asked = Deadline.PASSED;

	/**
	 * Create without knowing more than a cohort that had the lock before.
	 * @param lease the lease of the store
	 * @param maxTime how long a cohort has it at most
	 * @param earlier what was known last, or {@code null}
	 */
	OtherJvms(LockLease lease, Duration maxTime, @Nullable OtherJvms earlier) {
		this.lease = lease;
		this.maxTime = maxTime;
		this.alone = (earlier != null) ? earlier.alone : Deadline.PASSED;
	}

	boolean mayWait() {
		return this.alone.hasPassed();
	}

	/**
	 * Ask the store, unless it was asked a short time ago.
	 */
	void askAgain() {
		if (this.asked.hasPassed()) {
			this.asked = Deadline.after(this.maxTime.dividedBy(2 * SURE));
			ask();
		}
	}

	void ask() {
		Deadline deadline = Deadline.after(this.maxTime.dividedBy(SURE));
		try {
			othersWait().thenAccept((others) -> this.alone = others ? Deadline.PASSED : deadline);
		}
		catch (RuntimeException ex) {
			logger.debug("Lock '{}': the store does not tell whether others wait", this.lease.key(), ex);
		}
	}

	private CompletionStage<Boolean> othersWait() {
		return (this.lease instanceof GrantedLease store) ? store.othersWait() : CompletableFuture.completedStage(true);
	}

}
