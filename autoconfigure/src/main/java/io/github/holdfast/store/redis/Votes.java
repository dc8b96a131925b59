package io.github.holdfast.store.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;

/**
 * The answers of an odd number of nodes to one question, counted as they come in.
 */
final class Votes {

	private final int nodes;

	private final AtomicReference<Count> count = new AtomicReference<>(new Count(0, 0, 0, null));

	private final CompletableFuture<Void> quorum = new CompletableFuture<>();

	private final CompletableFuture<Boolean> decision = new CompletableFuture<>();

	private Votes(int nodes) {
		this.nodes = nodes;
	}

	static <T> Votes count(List<CompletableFuture<T>> answers, Predicate<T> yes) {
		Votes votes = new Votes(answers.size());
		answers.forEach((answer) -> answer.whenComplete((value, ex) -> votes
			.settle(votes.count.updateAndGet((count) -> count.plus(ex == null && yes.test(value), ex)))));
		return votes;
	}

	private void settle(Count count) {
		if (isMajority(count.answered())) {
			this.quorum.complete(null);
		}
		if (isMajority(count.yes())) {
			this.decision.complete(true);
		}
		else if (isMajority(count.no())) {
			this.decision.complete(false);
		}
		else if (isMajority(count.failed()) || count.answered() + count.failed() == this.nodes) {
			Throwable failure = (count.failure() != null) ? count.failure() : new IllegalStateException();
			this.quorum.completeExceptionally(failure);
			this.decision.completeExceptionally(failure);
		}
	}

	private boolean isMajority(int votes) {
		return votes > this.nodes / 2;
	}

	/**
	 * Completes when a majority has answered at all, or cannot any more.
	 */
	CompletableFuture<Void> quorum() {
		return this.quorum;
	}

	/**
	 * Completes with what a majority says, or with a failure if there will be none.
	 */
	CompletableFuture<Boolean> decision() {
		return this.decision;
	}

	LockBackendException failed(LockRequest request, String what, Throwable failure) {
		Throwable cause = (failure instanceof ExecutionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		Count count = this.count.get();
		String reason = (cause instanceof TimeoutException)
				? "only " + count.answered() + " of " + this.nodes + " Redis nodes answered in time"
				: count.failed() + " of " + this.nodes + " Redis nodes failed";
		return new LockBackendException(request.key(), "could not be " + what + ", " + reason, cause);
	}

	/**
	 * One of the failures is kept, if possible one that will pass.
	 */
	private record Count(int yes, int no, int failed, @Nullable Throwable failure) {

		private Count plus(boolean inFavour, @Nullable Throwable ex) {
			if (ex != null) {
				boolean first = this.failure == null || RedisRefusal.isTemporary(ex);
				return new Count(this.yes, this.no, this.failed + 1, first ? ex : this.failure);
			}
			return inFavour ? new Count(this.yes + 1, this.no, this.failed, this.failure)
					: new Count(this.yes, this.no + 1, this.failed, this.failure);
		}

		private int answered() {
			return this.yes + this.no;
		}

	}

}
