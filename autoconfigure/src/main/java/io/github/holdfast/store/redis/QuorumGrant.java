package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;

/**
 * One lock on the nodes of a quorum, under an owner that is never used again: what is
 * given back late cannot be mistaken for a later attempt.
 */
final class QuorumGrant implements Grant {

	private static final Duration TIE_PAUSE = Duration.ofMillis(5);

	private final List<NodeGrant> nodes;

	private final LockRequest request;

	QuorumGrant(List<RedisLocks> nodes, LockRequest request) {
		this.nodes = nodes.stream().map((node) -> new NodeGrant(node, request)).toList();
		this.request = request;
	}

	/**
	 * Take the lock on a majority, and raise the epoch there to the highest of them, so
	 * that whatever majority the next holder has will count on from it.
	 * @return the epoch, or nothing if others are in the way
	 */
	OptionalLong acquire(Deadline deadline) throws InterruptedException {
		Ballot ballot = ask(this.request, deadline);
		Deadline tie = Deadline.after(tieTime());
		while (ballot.epoch().isEmpty() && ballot.isFirstOfSeveral() && !tie.hasPassed()) {
			TimeUnit.NANOSECONDS.sleep(TIE_PAUSE.toNanos());
			ballot = ask(this.request, deadline);
		}
		OptionalLong epoch = ballot.epoch();
		if (epoch.isPresent() && ask(this.request.withMinEpoch(epoch.getAsLong()), deadline).epoch().isEmpty()) {
			return OptionalLong.empty();
		}
		return epoch;
	}

	private Duration tieTime() {
		Duration third = this.request.leaseTime().dividedBy(3);
		return (third.compareTo(RedisLocks.MIN_TIMEOUT) < 0) ? third : RedisLocks.MIN_TIMEOUT;
	}

	private Ballot ask(LockRequest request, Deadline deadline) throws InterruptedException {
		Ballot ballot = new Ballot(this.nodes.stream().map((node) -> node.ask(request)).toList());
		try {
			long timeout = RedisLocks.atLeastMinimum(deadline.remaining()).toNanos();
			ballot.votes().quorum().get(timeout, TimeUnit.NANOSECONDS);
			return ballot;
		}
		catch (ExecutionException | TimeoutException ex) {
			throw ballot.votes().failed(request, "acquired", ex);
		}
	}

	/**
	 * Waits for the answers: what is held by too few nodes is given back by this thread.
	 */
	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		List<CompletableFuture<List<Object>>> answers = this.nodes.stream()
			.map((node) -> node.locks.renew(this.request, leaseTime))
			.toList();
		Votes votes = Votes.count(answers, RedisLocks::isYes);
		try {
			boolean renewed = Answers.awaitUninterruptibly(votes.decision(), RedisLocks.renewalTimeout(leaseTime));
			if (!renewed) {
				release(Deadline.after(leaseTime));
			}
			return CompletableFuture.completedStage(renewed);
		}
		catch (ExecutionException | TimeoutException ex) {
			LockBackendException failure = votes.failed(this.request, "renewed", ex);
			answers.forEach((answer) -> answer.cancel(true));
			throw failure;
		}
	}

	@Override
	public CompletableFuture<Boolean> release(Deadline end) {
		Votes votes = Votes.count(this.nodes.stream().map((node) -> node.release(end)).toList(), Boolean::booleanValue);
		return votes.decision().exceptionally((ex) -> {
			throw new CompletionException(votes.failed(this.request, "released", ex));
		});
	}

	/**
	 * The lock on one node.
	 */
	private static final class NodeGrant {

		private final RedisLocks locks;

		private final LockRequest request;

		private final List<CompletableFuture<List<Object>>> asked = new ArrayList<>(2);

		private NodeGrant(RedisLocks locks, LockRequest request) {
			this.locks = locks;
			this.request = request;
		}

		private CompletableFuture<List<Object>> ask(LockRequest request) {
			CompletableFuture<List<Object>> answer = this.locks.acquire(List.of(request));
			this.asked.add(answer);
			return answer;
		}

		/**
		 * Also when it is not known whether the node has granted the lock. Clients keep
		 * the order of what they send.
		 */
		private CompletableFuture<Boolean> release(Deadline end) {
			if (this.asked.stream().allMatch(Ballot::isRefused)) {
				return CompletableFuture.completedFuture(false);
			}
			this.asked.forEach((answer) -> answer.cancel(true));
			return this.locks.release(this.request, end).thenApply(RedisLocks::isYes);
		}

	}

}
