package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;

/**
 * A lock in one Redis, exclusive or shared.
 */
final class RedisLease implements LockBackend.Lease {

	private final RedisLocks locks;

	private final LockRequest request;

	private final long epoch;

	private final long sentAt;

	private volatile boolean released;

	RedisLease(RedisLocks locks, LockRequest request, long epoch, long sentAt) {
		this.locks = locks;
		this.request = request;
		this.epoch = epoch;
		this.sentAt = sentAt;
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
		return answer(this.locks.renew(this.request, leaseTime), "renewed");
	}

	/**
	 * Redis recognizes the owner until the next grant, so a release that is repeated
	 * without an answer succeeds. After an answer, nothing is sent.
	 */
	@Override
	public CompletionStage<Boolean> release() {
		if (this.released) {
			return CompletableFuture.completedStage(false);
		}
		return answer(this.locks.release(this.request), "released").whenComplete((answer, ex) -> {
			if (ex == null) {
				this.released = true;
			}
		});
	}

	private CompletableFuture<Boolean> answer(CompletableFuture<List<Object>> answer, String what) {
		return answer.handle((yes, ex) -> {
			if (ex != null) {
				throw this.locks.failure(this.request.key(), what, ex);
			}
			return RedisLocks.isYes(yes);
		});
	}

}
