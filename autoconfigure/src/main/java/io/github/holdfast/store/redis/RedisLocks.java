package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.util.Assert;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling.Deadline;
import io.github.holdfast.store.redis.LockScript.LockKey;

/**
 * Sends requests for locks to one Redis.
 */
final class RedisLocks {

	/**
	 * The shortest time for an answer to an attempt, whatever the wait time of a call is.
	 */
	static final Duration MIN_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** After this time without a request, a fair waiter loses its place. */
	private static final Duration TICKET_TIME = Duration.ofSeconds(2);

	/** Epochs rise even if the clock of Redis goes back by this time. */
	private static final Duration RETENTION = Duration.ofDays(1);

	/** Redis cannot add more to its clock. */
	private static final Duration MAX_TIME = Duration.ofDays(10_000);

	/** Redis 6 puts the text of the script in front. */
	private static final Pattern TEMPORARY = Pattern
		.compile("(^|: -)(TRYAGAIN|MOVED|ASK|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|NOREPLICAS|BUSY) ");

	private final Supplier<? extends RedisDriver> driver;

	RedisLocks(Supplier<? extends RedisDriver> driver) {
		this.driver = driver;
	}

	RedisDriver driver() {
		return this.driver.get();
	}

	/**
	 * Make one attempt.
	 * @param inTurn whether to wait in the queue of fair requests
	 */
	CompletableFuture<List<Object>> acquire(LockRequest request, boolean inTurn, Duration timeout) {
		return run(LockScript.ACQUIRE, request.key(), timeout, request.owner().id(), millis(request.leaseTime()),
				millis(request.leaseTime().plus(RETENTION)), request.owner().description(),
				(request.mode() == LockMode.SHARED) ? "shared" : "write", inTurn ? millis(TICKET_TIME) : "");
	}

	/**
	 * Extend a lease.
	 * @param epoch the epoch of an exclusive lock from now on
	 */
	CompletableFuture<List<Object>> renew(LockRequest request, Duration leaseTime, long epoch) {
		return run(LockScript.RENEW, request.key(), TIMEOUT, request.owner().id(), millis(leaseTime),
				millis(leaseTime.plus(RETENTION)), Long.toString(epoch));
	}

	CompletableFuture<List<Object>> release(LockRequest request) {
		return run(LockScript.RELEASE, request.key(), TIMEOUT, request.owner().id());
	}

	/**
	 * Take back anything that an acquisition left in Redis. Repeated until Redis has
	 * answered or the lease is over.
	 */
	CompletableFuture<List<Object>> leave(LockRequest request, Deadline end) {
		CompletableFuture<List<Object>> left = run(LockScript.LEAVE, request.key(), TIMEOUT, request.owner().id());
		left.whenComplete((answer, ex) -> {
			if (ex != null && !end.hasPassed()) {
				CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> leave(request, end));
			}
		});
		return left;
	}

	CompletableFuture<List<Object>> ask(LockScript script, String key) {
		return run(script, key, MIN_TIMEOUT, millis(RETENTION));
	}

	private CompletableFuture<List<Object>> run(LockScript script, String key, Duration timeout, String... args) {
		try {
			return driver().run(script, LockKey.of(key), timeout, args);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Report a failure as a {@link LockBackendException}.
	 * @param what the operation that failed: a participle
	 */
	static <T> CompletableFuture<T> answer(CompletableFuture<T> answer, String key, String what,
			Supplier<String> server) {
		return answer.handle((value, ex) -> {
			if (ex != null) {
				throw failure(key, what, server.get(), ex);
			}
			return value;
		});
	}

	static <T> T await(CompletableFuture<T> answer, String key, String what, String server) {
		awaitQuietly(answer);
		Throwable failure = answer.handle((value, ex) -> ex).getNow(new TimeoutException());
		if (failure != null) {
			throw failure(key, what, server, failure);
		}
		return answer.join();
	}

	static LockBackendException failure(String key, String what, String server, Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof ExecutionException || cause instanceof CompletionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		String reason = (cause instanceof TimeoutException) ? " did not answer in time" : " failed";
		return new LockBackendException(key, "could not be " + what + ", " + server + reason, cause);
	}

	/**
	 * Whether the same request may succeed later, because Redis was not ready for it.
	 * Redis loads its data, runs another script, became a replica, has no replicas, or
	 * moves a slot of a Cluster.
	 * @param failure the exception of the client, with any wrappers
	 * @return {@code false} if a repetition would not help, or nothing is known
	 */
	static boolean isTemporary(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.anyMatch((cause) -> TEMPORARY.matcher(String.valueOf(cause.getMessage())).find());
	}

	/**
	 * Wait a short time for an answer, whatever it is. An interrupt is kept.
	 */
	static void awaitQuietly(CompletableFuture<?> answer) {
		try {
			answer.get(MIN_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			// The lock ends with its lease
		}
	}

	static boolean isYes(List<Object> answer) {
		return number(answer, 0) == 1;
	}

	static long number(List<Object> answer, int index) {
		return ((Number) answer.get(index)).longValue();
	}

	/**
	 * Rounds up, so that no lease ends in Redis before its holder expects it.
	 */
	private static String millis(Duration duration) {
		Assert.isTrue(duration.compareTo(MAX_TIME) < 0, "Lease time must be shorter than 9999 days");
		return Long.toString(duration.plusNanos(999_999).toMillis());
	}

}
