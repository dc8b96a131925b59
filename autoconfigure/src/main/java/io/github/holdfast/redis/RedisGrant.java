package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Answers;
import io.github.holdfast.support.Deadline;

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
	public Renewal startRenewal(Duration leaseTime) {
		return startRenewals(this.locks, List.of(this.request), leaseTime).get(0);
	}

	/**
	 * Ask for more time for several locks.
	 */
	static List<Renewal> startRenewals(RedisLocks locks, List<LockRequest> requests, Duration leaseTime) {
		List<CompletableFuture<List<Object>>> answers = locks.renew(requests, leaseTime);
		return IntStream.range(0, answers.size())
			.<Renewal>mapToObj((i) -> (timeout) -> await(locks, requests.get(i), answers.get(i), timeout))
			.toList();
	}

	private static boolean await(RedisLocks locks, LockRequest request, CompletableFuture<List<Object>> answer,
			Duration timeout) {
		try {
			return RedisLocks.isYes(Answers.awaitUninterruptibly(answer, timeout));
		}
		catch (ExecutionException | TimeoutException ex) {
			answer.cancel(true);
			throw Answers.failure(request.key(), "renewed", locks.driver().server(), ex);
		}
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
