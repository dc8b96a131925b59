package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;

/**
 * A lock that one Redis has granted.
 */
final class RedisGrant implements Grant {

	private final RedisLocks locks;

	private final LockRequest request;

	private volatile @Nullable CompletableFuture<List<Object>> released;

	RedisGrant(RedisLocks locks, LockRequest request) {
		this.locks = locks;
		this.request = request;
	}

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return Answers.inTime(this.locks.renew(this.request, leaseTime), RedisLocks.renewalTimeout(leaseTime))
			.handle((answer, ex) -> {
				if (ex != null) {
					throw Answers.failure(this.request.key(), "renewed", this.locks.driver().server(), ex);
				}
				return RedisLocks.isYes(answer);
			});
	}

	@Override
	public CompletionStage<Boolean> othersWait() {
		CompletableFuture<List<Object>> released = this.released;
		return (released != null) ? released.thenApply(this.locks::isHeard) : this.locks.isListenedTo(this.request);
	}

	@Override
	public CompletableFuture<Boolean> release(Deadline end) {
		CompletableFuture<List<Object>> released = this.locks.release(this.request, end);
		this.released = released;
		return released.thenApply(RedisLocks::isYes);
	}

}
