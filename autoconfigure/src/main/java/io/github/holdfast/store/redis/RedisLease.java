package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.holdfast.LockBackend;

/**
 * A lock in one Redis, exclusive or shared, or in a quorum.
 */
final class RedisLease implements LockBackend.Lease {

	private final long epoch;

	private final long sentAt;

	private final Function<Duration, CompletableFuture<Boolean>> renewal;

	private final Supplier<CompletableFuture<Boolean>> release;

	private volatile boolean released;

	RedisLease(long epoch, long sentAt, Function<Duration, CompletableFuture<Boolean>> renewal,
			Supplier<CompletableFuture<Boolean>> release) {
		this.epoch = epoch;
		this.sentAt = sentAt;
		this.renewal = renewal;
		this.release = release;
	}

	@Override
	public long epoch() {
		return this.epoch;
	}

	@Override
	public long sentAt() {
		return this.sentAt;
	}

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return this.renewal.apply(leaseTime);
	}

	/**
	 * Redis recognizes the last owner of a free lock, so a release that is repeated
	 * because its answer was lost succeeds. After an answer, nothing is sent.
	 */
	@Override
	public CompletionStage<Boolean> release() {
		if (this.released) {
			return CompletableFuture.completedStage(false);
		}
		return this.release.get().whenComplete((answer, ex) -> this.released = ex == null);
	}

}
