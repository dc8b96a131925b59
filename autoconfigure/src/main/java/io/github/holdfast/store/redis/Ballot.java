package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The answers of all nodes to one request for a lock, in the order of the nodes.
 */
final class Ballot {

	/** How long the others are waited for when a majority has answered. */
	private static final Duration STRAGGLER_TIMEOUT = Duration.ofMillis(250);

	private final List<CompletableFuture<List<Object>>> answers;

	private final Votes votes;

	Ballot(List<CompletableFuture<List<Object>>> answers) {
		this.answers = answers;
		this.votes = Votes.count(answers, Ballot::isGranted);
	}

	Votes votes() {
		return this.votes;
	}

	/**
	 * The highest epoch of those that granted the lock.
	 * @return the epoch, or nothing if they are no majority
	 */
	OptionalLong epoch() throws InterruptedException {
		return awaitStragglers(this.votes.decision())
				? answered().mapToLong((answer) -> RedisLocks.number(answer, 0)).max() : OptionalLong.empty();
	}

	/**
	 * When several share the votes, so that none has a majority, the one with the first
	 * node insists, and the others give back what they have.
	 */
	boolean isFirstOfSeveral() throws InterruptedException {
		if (isHeldByAnother()) {
			return false;
		}
		awaitStragglers(CompletableFuture.allOf(this.answers.toArray(CompletableFuture<?>[]::new))
			.thenApply((nothing) -> true));
		return answered().findFirst().filter(Ballot::isGranted).isPresent() && !isHeldByAnother();
	}

	private boolean isHeldByAnother() {
		return answered().filter((answer) -> !isGranted(answer))
			.collect(Collectors.groupingBy(Ballot::owner, Collectors.counting()))
			.values()
			.stream()
			.anyMatch((count) -> count > this.answers.size() / 2);
	}

	private static String owner(List<Object> answer) {
		return new String((byte[]) answer.get(2), StandardCharsets.UTF_8);
	}

	private static boolean awaitStragglers(CompletableFuture<Boolean> decision) throws InterruptedException {
		try {
			return decision.get(STRAGGLER_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			return false;
		}
	}

	private Stream<List<Object>> answered() {
		return this.answers.stream().filter(Ballot::isAnswered).map(CompletableFuture::join);
	}

	/**
	 * Whether a node has said that it has not granted the lock.
	 */
	static boolean isRefused(CompletableFuture<List<Object>> answer) {
		return isAnswered(answer) && !isGranted(answer.join());
	}

	private static boolean isAnswered(CompletableFuture<List<Object>> answer) {
		return answer.isDone() && !answer.isCompletedExceptionally();
	}

	private static boolean isGranted(List<Object> answer) {
		return RedisLocks.number(answer, 0) != 0;
	}

}
