package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The lease of a cohort for one of its threads, until that one gives it back or hands it
 * over.
 */
final class TurnLease implements ReleasedByCommit {

	private static final CompletionStage<Boolean> ENDED = CompletableFuture.completedStage(false);

	private final Cohort cohort;

	private final KeyedPermits<Cohort>.Permit permit;

	private final int turn;

	private final String name;

	private volatile boolean ended;

	TurnLease(Cohort cohort, KeyedPermits<Cohort>.Permit permit, int turn, String name) {
		this.cohort = cohort;
		this.permit = permit;
		this.turn = turn;
		this.name = name;
	}

	@Override
	public String key() {
		return this.cohort.lease().key();
	}

	@Override
	public String owner() {
		return this.cohort.lease().owner();
	}

	@Override
	public long epoch() {
		return this.cohort.lease().epoch();
	}

	@Override
	public int turn() {
		return this.turn;
	}

	@Override
	public @Nullable Duration remaining() {
		Duration remaining = this.cohort.lease().remaining();
		return (remaining != null && this.ended) ? Duration.ZERO : remaining;
	}

	@Override
	public boolean isValid() {
		return !this.ended && this.cohort.lease().isValid();
	}

	@Override
	public boolean hasEnded() {
		return this.ended || this.cohort.lease().hasEnded();
	}

	@Override
	public boolean renew(Duration leaseTime) {
		return Answers
			.join(renew(leaseTime, () -> CompletableFuture.completedStage(this.cohort.lease().renew(leaseTime))));
	}

	@Override
	public CompletionStage<Boolean> startRenewal(Duration leaseTime) {
		return renew(leaseTime, () -> this.cohort.lease().startRenewal(leaseTime));
	}

	private CompletionStage<Boolean> renew(Duration leaseTime, Supplier<CompletionStage<Boolean>> renewal) {
		return this.cohort.renew(this.permit, () -> this.ended, leaseTime, renewal)
			.thenApply((renewed) -> renewed && !this.ended);
	}

	/**
	 * As long as nobody waits. One who comes later asks the store.
	 */
	@Override
	public boolean isLast() {
		return !this.ended && this.cohort.lease() instanceof ReleasedByCommit lease && lease.isLast()
				&& !this.permit.isWaitedFor();
	}

	@Override
	public void releasedByCommit() {
		((ReleasedByCommit) this.cohort.lease()).releasedByCommit();
	}

	/**
	 * Ends before the next thread has its turn, and only if there is one.
	 */
	@Override
	public synchronized boolean handOver() {
		return !this.ended && this.cohort.handOver(this.permit, this.name, () -> this.ended = true);
	}

	@Override
	public CompletionStage<Boolean> release() {
		synchronized (this) {
			if (this.ended) {
				return ENDED;
			}
			this.ended = true;
		}
		return this.cohort.release(this.permit);
	}

}
