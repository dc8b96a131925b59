package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;

/**
 * A lock in one Redis, exclusive or shared, or in a quorum.
 *
 * @param epoch the number of the grant
 * @param sentAt the time from before the attempt that won
 * @param renewing asks Redis for another lease time
 * @param releasing asks Redis to free the lock
 * @param sent the last release
 */
record RedisLease(long epoch, long sentAt, Function<Duration, CompletableFuture<Boolean>> renewing,
		Supplier<CompletableFuture<Boolean>> releasing,
		AtomicReference<@Nullable CompletableFuture<Boolean>> sent) implements LockBackend.Lease {

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return this.renewing.apply(leaseTime);
	}

	/**
	 * Redis recognizes the last owner of a free lock, so a release that is repeated
	 * because its answer was lost succeeds. After an answer, nothing more is sent.
	 */
	@Override
	public CompletionStage<Boolean> release() {
		synchronized (this.sent) {
			CompletableFuture<Boolean> before = this.sent.get();
			if (before != null && !before.isCompletedExceptionally()) {
				return before.thenApply((answer) -> false);
			}
			CompletableFuture<Boolean> answer = this.releasing.get();
			this.sent.set(answer);
			return answer;
		}
	}

}
