package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.holdfast.LockRequest;

/**
 * A lease that runs out in its store. Knows how long this process can prove that it holds
 * the lock: from before a request was sent, and no longer once the lease was found lost
 * or released. Safe for use by many threads.
 *
 * @since 0.2.0
 */
public abstract class ExpiringLease extends GrantedLease {

	private static final CompletableFuture<Boolean> NONE = CompletableFuture.completedFuture(true);

	/** One at a time, so that the deadline is that of the last answer. */
	private final AtomicReference<CompletableFuture<Boolean>> renewal = new AtomicReference<>(NONE);

	private final AtomicBoolean released = new AtomicBoolean();

	private volatile Deadline deadline;

	private volatile Deadline end;

	private volatile boolean ended;

	private volatile boolean lost;

	private volatile boolean givenBack;

	/**
	 * Create a lease that was just granted.
	 * @param request what was asked for
	 * @param epoch the epoch of the grant
	 * @param deadline the end of the lease, counted from before the request was sent
	 */
	protected ExpiringLease(LockRequest request, long epoch, Deadline deadline) {
		super(request, epoch);
		this.deadline = deadline;
		this.end = deadline;
	}

	/**
	 * Ask the store to extend the lease if it is still ours. Not called again before the
	 * answer has come.
	 * @param leaseTime the new time, counted from now
	 * @return completes in bounded time, with {@code false} if the lock is no longer ours
	 */
	protected abstract CompletionStage<Boolean> extend(Duration leaseTime);

	/**
	 * Ask the store to free the lock if it is still ours. Called once at most.
	 * @return completes with {@code false} if it was not ours any more
	 * @see #end()
	 */
	protected abstract CompletionStage<Boolean> giveBack();

	/**
	 * When the lock has run out by itself at the latest, even if the store has extended
	 * it without an answer. Until then a release that failed is worth another attempt.
	 * @return the end
	 */
	protected final Deadline end() {
		return this.end;
	}

	/**
	 * Whether the lease is kept by something else than its time, too, and still is. Does
	 * no I/O. Default: by its time alone.
	 * @return {@code false} if it cannot be proven
	 */
	protected boolean isKept() {
		return true;
	}

	@Override
	public final Duration remaining() {
		return (this.ended || !isKept()) ? Duration.ZERO : this.deadline.remaining();
	}

	@Override
	public final boolean isValid() {
		return !this.ended && !this.deadline.hasPassed() && isKept();
	}

	/**
	 * Not as soon as it is not valid: the store may have extended it without an answer.
	 */
	@Override
	public boolean hasEnded() {
		return this.ended;
	}

	/**
	 * What was asked before says nothing about now.
	 */
	@Override
	public final boolean renew(Duration leaseTime) {
		this.renewal.get().handle((answer, failure) -> true).join();
		return Answers.join(startRenewal(leaseTime));
	}

	@Override
	public final CompletionStage<Boolean> startRenewal(Duration leaseTime) {
		CompletableFuture<Boolean> earlier = this.renewal.get();
		CompletableFuture<Boolean> renewal = new CompletableFuture<>();
		if (!earlier.isDone() || !this.renewal.compareAndSet(earlier, renewal)) {
			return this.renewal.get();
		}
		if (this.ended) {
			renewal.complete(false);
			return renewal;
		}
		Deadline renewed = Deadline.ofLease(leaseTime);
		mayEnd(renewed);
		Releases.attempt(() -> extend(leaseTime))
			.whenComplete((extended, failure) -> Answers.follow(renewal, failure == null && extended(extended, renewed),
					failure));
		return renewal;
	}

	/**
	 * Even if the answer is lost: the store may have shortened the lease, or extended it.
	 */
	private void mayEnd(Deadline renewed) {
		if (renewed.remainingNanos() < this.deadline.remainingNanos()) {
			this.deadline = renewed;
		}
		if (renewed.remainingNanos() > this.end.remainingNanos()) {
			this.end = renewed;
		}
	}

	private boolean extended(boolean extended, Deadline renewed) {
		if (!extended) {
			this.ended = true;
			this.lost = true;
			return false;
		}
		this.deadline = renewed;
		this.end = renewed;
		return !this.ended;
	}

	/**
	 * Note that the lock was given back in another way, while it was ours. What renewals
	 * say that were answered later does not matter.
	 */
	protected final void givenBack() {
		this.givenBack = true;
		this.ended = true;
	}

	@Override
	public final CompletionStage<Boolean> release() {
		this.ended = true;
		boolean first = this.released.compareAndSet(false, true);
		return (first && !this.givenBack && !this.lost) ? giveBack()
				: CompletableFuture.completedStage(first && this.givenBack);
	}

}
